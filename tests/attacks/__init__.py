"""What an attacker, a bad day or a careless hand may try, one file for each area, one test for each attempt.

`make test` runs what is quick, and a few of each long table; `make attacks` all of it.
"""
