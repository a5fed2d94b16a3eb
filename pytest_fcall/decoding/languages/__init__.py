"""Java and JavaScript source text, read but never run."""
