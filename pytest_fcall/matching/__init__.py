"""Calls against an expectation: pure functions, the same answer for the same question."""
