"""What was promised in a version still holds: its files are read, and its public names are there."""
