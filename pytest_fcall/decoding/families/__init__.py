"""Decoders of the research systems that the plugin reads: Gorilla, ToolBench, API-BLEND."""
