"""Agents of frameworks, called as each framework wants it: one module each, which imports its package when it calls."""
