"""APIBench: questions whose answers are calls of machine learning hubs, judged by the original rule or by meaning."""
