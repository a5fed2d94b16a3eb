"""The edits between two versions of a question, and the search for those that change a verdict: asks nobody."""
