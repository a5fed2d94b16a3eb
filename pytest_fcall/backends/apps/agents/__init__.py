"""Agents of frameworks, one module each: called as the framework wants it, and what they return read.

A framework is imported when one of its agents is called, and never to read what an app returned.
"""
