"""The official BFCL checker, asked in an environment of its own: its pins fit nobody else's."""
