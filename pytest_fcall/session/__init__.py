"""A run without pytest: it asks models, judges replies and sums up the results."""
