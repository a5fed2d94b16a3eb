"""Cases that were edited since they were accepted."""

from __future__ import annotations

from tests.integration.command import fcall_here
from tests.integration.mind import RIGHT, Mind


def test_a_right_answer_to_an_edited_case_waits_to_be_accepted(mind: Mind) -> None:
    mind.cases("one", "two")
    mind.run("--fc-accept")
    file = mind.path / "cases" / "a.fc.yaml"
    file.write_text(file.read_text("utf-8").replace("prompt: one", "prompt: other"), "utf-8")
    mind.says({"other": RIGHT})

    mind.run().stdout.fnmatch_lines(["not in the baseline: 1 edited; `fcall accept` accepts what is right"])
    assert "1 case accepted" in fcall_here(mind.path, "accept", "--only", "edited").stdout
    mind.run().stdout.no_fnmatch_line("not in the baseline*")
