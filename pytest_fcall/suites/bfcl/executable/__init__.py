"""The retired categories in which calls count by what they give when they are carried out."""
