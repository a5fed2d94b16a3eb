"""How strong a case is: whether it notices the mistakes that models really make."""
