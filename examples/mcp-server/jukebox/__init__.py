"""A jukebox that models operate."""
