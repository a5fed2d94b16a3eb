"""Batch APIs: requests that a provider answers within a day for less, submitted once whatever befalls the process."""
