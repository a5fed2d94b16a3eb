"""The leaderboard's multi-turn categories: conversations with classes of its own behind the tools.

What right calls come to is not written down there: the official checker carries them out beside those of the model, and
compares what both came to. So does `checking`, in a process that is kept inside; `bench` asks it, and `judging` says in
our words what it found. `calling` knows the official form of a call, `reading` finds such calls in answers.
"""
