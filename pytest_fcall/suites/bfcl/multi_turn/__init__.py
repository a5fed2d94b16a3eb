"""The leaderboard's multi-turn categories: conversations with tools that are methods of official classes.

The data has no expected results. Like the official checker, `world` executes the right calls and the model's calls in a
contained process, and compares results and states. `conversations` asks that process and makes a Verdict of its answer.
"""
