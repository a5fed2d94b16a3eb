"""The official checker of the Berkeley Function Calling Leaderboard (bfcl_eval 2026.3.23), verdict for verdict.

Its defects are reproduced, since its numbers are only worth something where everybody counts alike. What it does
beyond what one would expect is said where it is done.
"""

from pytest_fcall.matching.bfcl.checker import check_answer, check_undecodable
from pytest_fcall.matching.bfcl.official_case import OfficialCase
from pytest_fcall.matching.bfcl.ruling import Ruling

__all__ = ["OfficialCase", "Ruling", "check_answer", "check_undecodable"]
