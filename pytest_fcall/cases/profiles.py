"""What a case may not ask for under its profile."""

from __future__ import annotations

from collections.abc import Sequence

from yaml import Node

from pytest_fcall.cases.faults import Faults
from pytest_fcall.core import Rules, Turn
from pytest_fcall.core.beyond_bfcl import KNOWN, KNOWN_OF_RESULTS, beyond_bfcl, beyond_bfcl_result
from pytest_fcall.core.within import operators_in


def check_profile(place: Node, turns: Sequence[Turn], rules: Rules, faults: Faults) -> None:
    """Note all that the profile has no rule for: to pass over it in silence would be to judge something else."""
    if rules.profile != "bfcl":
        if rules.language != "python":
            hint = "write `profile: bfcl`, or leave `language` out"
            faults.add(
                "contradiction", place, f"`language: {rules.language}` means nothing under `profile: strict`", hint
            )
        return
    for turn in turns:
        for name in beyond_bfcl(turn.expect, rules) if turn.expect is not None else ():
            message = f"{name} means nothing under `profile: bfcl`"
            faults.add("beyond-bfcl", place, message, f"it knows {KNOWN}; the profile `strict` knows more")
        for name in beyond_bfcl_result(turn.result):
            message = f"{name} means nothing under `profile: bfcl`"
            faults.add("beyond-bfcl", place, message, f"it knows {KNOWN_OF_RESULTS}; the profile `strict` knows more")
        if any(each.name == "judge" for each in operators_in([turn.answer, turn.state, turn.result])):
            message = "`$judge` may not stand beside `profile: bfcl`"
            faults.add("beyond-bfcl", place, message, "its verdicts are those of a program; no model has a say in them")
