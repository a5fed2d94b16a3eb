"""The mistakes that are made on purpose: each kind is a pure function from a right answer to wrong ones."""
