"""Changes since the accepted run: baselines, their comparison, statistics, gates and run files."""
