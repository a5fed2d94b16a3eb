"""Public benchmarks in their native formats, as Cases, with their own scores."""
