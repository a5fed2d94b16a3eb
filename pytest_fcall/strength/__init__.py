"""The strength of a case: whether it notices the mistakes that models really make."""
