"""Files of reports: one module for each kind, all of which write the same `Report`."""
