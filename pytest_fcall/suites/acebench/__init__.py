"""The suite `acebench`."""
