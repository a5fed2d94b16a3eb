"""Conversations: model and tools in turns, results of calls, environments, and the process of called functions.

A conversation is given its model, decoder and follower; nothing here knows backends or judges.
"""
