"""Tools and their parameter schemas: where they come from, and whether arguments fit them."""
