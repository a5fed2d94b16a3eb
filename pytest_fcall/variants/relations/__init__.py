"""The relations that are built in, a module for each kind of change."""
