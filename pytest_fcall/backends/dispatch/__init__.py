"""Dispatch: many requests at once, in a thread of its own, within limits, with retries."""
