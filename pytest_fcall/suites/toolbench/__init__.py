"""ToolBench (SambaNova's): stored answers to the tasks that need no network, scored by their original rules."""
