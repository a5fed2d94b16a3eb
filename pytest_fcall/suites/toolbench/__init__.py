"""ToolBench (SambaNova): its eight tasks, and stored answers to tasks that need no network."""
