"""APIBench: writing calls of machine learning hubs. Judged as the original judges, and by meaning."""
