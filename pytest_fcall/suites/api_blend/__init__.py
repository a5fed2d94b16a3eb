"""API-BLEND: fourteen data sets, in their own formats, of functions, their arguments and their order."""
