"""From what ran in production to cases: records out of logs and exports, masked, joined, and written for review."""
