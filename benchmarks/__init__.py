"""What docs/speed.md promises, measured side by side against pytest's own floor."""
