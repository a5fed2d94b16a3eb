"""One module for each format of logs and exports."""
