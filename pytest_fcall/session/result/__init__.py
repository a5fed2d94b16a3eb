"""What a run leaves: results, scores, gates, the run's file."""
