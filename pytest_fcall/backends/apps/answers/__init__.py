"""The Reply in what an app returns: text, calls, messages, and the results of agent frameworks.

Each family of shapes has a module of its own, here or, for a framework, in `agents`. None imports the packages whose
objects it reads.
"""
