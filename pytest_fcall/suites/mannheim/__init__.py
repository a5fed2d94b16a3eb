"""The Mannheim function calling benchmark: stored answers, scored by its original rules."""
