"""The Mannheim function calling benchmark: questions over tables, and stored answers, by its original rules or ours."""
