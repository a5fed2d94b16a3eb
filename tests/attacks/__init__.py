"""What an attacker, a bad day or a careless hand may try, one file for each area, one test for each attempt.

`make test` runs what is quick, `make attacks` all of it, also as another user where it may.
"""
