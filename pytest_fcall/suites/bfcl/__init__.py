"""The Berkeley Function Calling Leaderboard: its cases, and answers to them."""
