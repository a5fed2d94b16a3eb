"""What called functions might try, each in the way that Python offers and, where there is one, around it.

Functions that are to be refused return only if they got away with it.
"""
