"""The store in a file of SQLite: repaired where it is damaged, locked where it is opened."""
