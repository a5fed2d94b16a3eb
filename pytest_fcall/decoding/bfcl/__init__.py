"""The official decoders of the Berkeley leaderboard, with results in the official form.

That form is a list of one-key mappings `{name: {argument: value}}`. Unusual output gives the same unusual values as the
official decoders give.
"""
