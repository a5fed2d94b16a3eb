"""The playground of the documentation: what its page loads, and what judges there."""
