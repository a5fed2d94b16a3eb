"""Reading case files: YAML with positions into cases, and every mistake with the place to mend it."""
