"""One module for each kind of log and export."""
