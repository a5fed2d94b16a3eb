"""The Mannheim function calling benchmark: questions over tables, judged by the original rules or by `strict`."""
