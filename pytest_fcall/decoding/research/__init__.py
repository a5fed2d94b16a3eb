"""Decoders of research systems: Gorilla, ToolBench, API-BLEND."""
