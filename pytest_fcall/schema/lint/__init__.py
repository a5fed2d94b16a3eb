"""Rules that find tools hard to choose and to fill in, by their names, descriptions and schemas."""
