"""What people see: pure functions from plain data to lines of safe text."""
