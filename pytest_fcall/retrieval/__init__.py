"""Choosing tools or documents for a request: BM25, embeddings, oracle."""

from pytest_fcall.retrieval.bm25 import Bm25, OkapiBm25, words
from pytest_fcall.retrieval.embeddings import Embed, Embeddings, NoVectors, sentence_transformer
from pytest_fcall.retrieval.offering import chosen, document, expected, missed, question
from pytest_fcall.retrieval.oracle import Oracle
from pytest_fcall.retrieval.retriever import Retriever

__all__ = [
    "Bm25",
    "Embed",
    "Embeddings",
    "NoVectors",
    "OkapiBm25",
    "Oracle",
    "Retriever",
    "chosen",
    "document",
    "expected",
    "missed",
    "question",
    "sentence_transformer",
    "words",
]
