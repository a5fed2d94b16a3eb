"""Arguments written as source text of Java or JavaScript, which is never run."""
