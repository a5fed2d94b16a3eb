"""The page, the Markdown and the table of a board: models beside each other, best first."""
