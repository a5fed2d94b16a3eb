"""Files of earlier runs that cannot be read."""

from __future__ import annotations

from tests.integration.mind import WRONG, Mind


def test_a_run_that_cannot_be_read_is_no_evidence_and_the_summary_says_so(mind: Mind) -> None:
    mind.cases("one")
    mind.run("--fc-accept")
    mind.says({"one": WRONG})
    (mind.path / "elsewhere").mkdir()
    (mind.path / "elsewhere" / "run.json").write_text("{", "utf-8")

    result = mind.run("--fc-history=elsewhere")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["not counted as evidence: *run.json: not a run file: *"])
