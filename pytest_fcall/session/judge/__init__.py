"""From replies to verdicts, and from verdicts to changes against the baseline."""
