"""Runs against a server that others wrote, with a real model: `make test-servers`.

The server is `transformers serve`, in an environment of its own; it has Chat Completions and Responses. The model is
SmolLM2-135M-Instruct out of a wheel. What it answers is its own affair: the tests look at what we make of it.
"""
