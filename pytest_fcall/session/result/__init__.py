"""The results of a run: scores, gates, the run's file."""
