"""Recordings: replies that are kept, so that the same request needs no backend again."""
