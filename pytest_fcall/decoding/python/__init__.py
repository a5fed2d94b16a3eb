"""Python source text, read but never run."""
