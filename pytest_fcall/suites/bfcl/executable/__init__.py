"""The retired categories in which calls are judged by their results."""
