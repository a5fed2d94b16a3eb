"""Answers that a model might give to a case, right and wrong in every way: what the judges are compared on."""
