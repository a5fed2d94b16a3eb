"""The official checker of the Berkeley Function Calling Leaderboard (bfcl_eval 2026.3.23), verdict for verdict.

Its defects are reproduced, as scores can only be compared if all count alike. Comments name them where they are.
"""
