"""Choosing tools or documents for a request: BM25, embeddings, oracle."""
