"""Variants of cases: relations under which a verdict must not change, each a function from a case to a case."""
