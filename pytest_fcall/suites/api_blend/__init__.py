"""API-BLEND: which functions, with which arguments, in which order; fourteen data sets in their own formats."""
