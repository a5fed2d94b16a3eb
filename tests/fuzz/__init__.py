"""Answers that nobody would give, against everything that reads or judges answers.

`make fuzz` runs all of it for ten minutes; the suite runs a little of it every time.
"""
