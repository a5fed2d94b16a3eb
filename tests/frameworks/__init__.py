"""Frameworks for agents, as their users have them: the pages of docs/frameworks, run against a model on loopback."""
