"""The leaderboard's questions for agents that remember: conversations in which a model writes down what it hears, and
questions about that in new ones.

The memory is one of the official classes (`world`), kept in a contained process. `conversations` reads what is said
before the questions, and in which words a model is told of its memory.
"""
