"""What changed since the accepted run: baselines, statistics, gates, run files."""
