"""The leaderboard's memory categories: conversations in which a model takes notes, then questions about them.

The memory is an official class (`world`) in a contained process. `agentic` beside this folder reads the conversations
before the questions, and the instructions on the memory.
"""
