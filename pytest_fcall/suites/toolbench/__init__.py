"""ToolBench (SambaNova's): its eight tasks, and stored answers to those that need no network."""
