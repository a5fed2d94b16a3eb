"""A run without pytest: asking models, judging replies, and what came of it."""
