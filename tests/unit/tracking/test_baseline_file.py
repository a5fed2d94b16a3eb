from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.extensions.amber.serializer import AmberDataSerializer

from pytest_fcall.core import Call, Model
from pytest_fcall.tracking.baseline_file import Baseline, baseline_path, parse_baseline, read_baseline, write_baseline
from pytest_fcall.tracking.stanza import Stanza
from tests.unit.tracking.stanzas import STANZAS

OSLO = Stanza(
    "oslo",
    valid=False,
    reasons=(("wrong_value", "calls[0].args.city"),),
    calls=(Call("get_weather", {"city": "Osló"}), Call("get_time", {"in": ["Oslo\n", 1.0]})),
    because="the tokenizer cannot spell it",
    since="2026-11-21",
    digests={"prompt": "0a1b2c3d"},
    provenance={"date": "2026-11-21", "engine": {"model": "m-1"}},
)
PARIS = Stanza("paris in spring", valid=True, calls=())

TEXT = """\
# serializer version: fcall-1
# name: oslo
  {
    "case": "oslo",
    "valid": false,
    "reasons": [
      ["wrong_value", "calls[0].args.city"]
    ],
    "calls": [
      {"arguments": {"city": "Osló"}, "name": "get_weather"},
      {"arguments": {"in": ["Oslo\\n", 1.0]}, "name": "get_time"}
    ],
    "because": "the tokenizer cannot spell it",
    "since": "2026-11-21",
    "digests": {"prompt": "0a1b2c3d"},
    "provenance": {"date": "2026-11-21", "engine": {"model": "m-1"}}
  }
# ---
# name: paris in spring
  {
    "case": "paris in spring",
    "valid": true,
    "calls": []
  }
# ---
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return baseline_path(tmp_path / "shop.fc.yaml", Model("local", "smollm2"))


def read(path: Path) -> Baseline:
    found = read_baseline(path)
    assert found is not None
    return found


def faults(path: Path) -> list[tuple[str, int, str]]:
    return [(fault.code, fault.location.line, fault.message) for fault in read(path).faults]


def test_a_baseline_is_readable_in_review_and_its_stanzas_are_sorted(path: Path) -> None:
    write_baseline(path, [PARIS, OSLO])

    assert path.read_text("utf-8") == TEXT
    assert read(path) == Baseline({"oslo": OSLO, "paris in spring": PARIS})


@given(st.lists(STANZAS, min_size=1, unique_by=lambda stanza: stanza.case))
def test_what_is_written_is_read_again_and_written_the_same(
    tmp_path_factory: pytest.TempPathFactory, stanzas: list[Stanza]
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.ambr"
    write_baseline(path, stanzas)
    first = path.read_bytes()

    assert read(path) == Baseline({stanza.case: stanza for stanza in stanzas})
    write_baseline(path, read(path).stanzas.values())
    assert path.read_bytes() == first


def test_syrupy_reads_what_is_written(path: Path) -> None:
    class Serializer(AmberDataSerializer):
        VERSION = "fcall-1"

    write_baseline(path, [PARIS, OSLO])
    found = Serializer.read_file(str(path))

    assert not found.tainted
    assert [each.name for each in found] == ["oslo", "paris in spring"]
    assert [json.loads(str(each.data))["valid"] for each in found] == [False, True]


def test_a_file_that_is_not_there_is_no_baseline(path: Path) -> None:
    assert read_baseline(path) is None


def test_a_file_without_stanzas_is_removed(path: Path) -> None:
    write_baseline(path, [OSLO])
    write_baseline(path, [])

    assert not path.exists()


def test_files_that_differ_only_in_their_ending_have_baselines_of_their_own(tmp_path: Path) -> None:
    model = Model("local", "smollm2")

    assert baseline_path(tmp_path / "a.yaml", model) != baseline_path(tmp_path / "a.yml", model)


def test_names_of_models_become_folders_that_windows_takes(tmp_path: Path) -> None:
    path = baseline_path(tmp_path / "a.fc.yaml", Model("openai", 'Org/Model:7b?*"<>|'))

    assert not set(path.parent.name) & set('<>:"/\\|?*')
    assert path.parent.parent == tmp_path / "__fcall__"


def test_windows_line_ends_are_no_difference(path: Path) -> None:
    write_baseline(path, [PARIS, OSLO])
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    assert read(path).stanzas == {"oslo": OSLO, "paris in spring": PARIS}


def test_what_json_cannot_say_leaves_the_file_as_it_is(path: Path) -> None:
    write_baseline(path, [OSLO])
    before = path.read_bytes()

    with pytest.raises(ValueError, match="digits"):
        write_baseline(path, [Stanza("big", True, calls=(Call("f", {"n": 10**5000}),))])
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_merge_conflict_is_named_with_its_line(path: Path) -> None:
    write_baseline(path, [OSLO])
    text = path.read_text("utf-8")
    ours = text.replace('    "because": "the', '<<<<<<< HEAD\n    "because": "our\n=======\n    "because": "the')
    path.write_text(ours.replace("  }\n# ---", "  }\n>>>>>>> branch\n# ---"), "utf-8")

    (fault,) = read(path).faults
    assert (fault.code, fault.location.line, fault.source) == ("merge-conflict", 13, "<<<<<<< HEAD")
    assert "keep one of the two stanzas" in fault.hint


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("# serializer version: fcall-1\n", "", 1, "in the format 'fcall-1'"),
        ("fcall-1", "fcall-2", 1, "in the format 'fcall-1'"),
        ("# name: paris in spring", "# name:", 19, "a stanza without the name of its case"),
        ("# ---\n# name: paris", "# ---\n=======\n# name: paris", 19, "this line is not part of a stanza"),
        ("# ---\n# name: paris", "# name: paris", 2, "the stanza of 'oslo' is incomplete"),
        ("# name: paris in spring", "# name: oslo", 19, "duplicate case 'oslo', first in line 2"),
        ('"case": "oslo"', '"case": "bergen"', 2, "it names the case 'bergen'"),
        ('"valid": true', '"valid": yes', 19, "cannot be read: Expecting value"),
        ('"valid": true', '"valid": 1', 19, "`valid` is not true or false"),
        ('"calls": []', '"calls": ' + "[" * 9_999 + "]" * 9_999, 19, "it is nested too deeply"),
        ('"calls": []', f'"calls": {"9" * 5_000}', 19, "cannot be read: Exceeds the limit"),
    ],
)  # fmt: skip
def test_damage_is_named_and_then_nothing_counts(path: Path, old: str, new: str, line: int, message: str) -> None:
    path.parent.mkdir(parents=True)
    assert old in TEXT
    path.write_text(TEXT.replace(old, new, 1), "utf-8")

    found = faults(path)
    assert found[0][:2] == ("damaged-baseline", line)
    assert message in found[0][2]
    assert not read(path).stanzas


def test_a_file_that_is_not_text_is_no_baseline(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(TEXT.encode("latin-1"))

    assert faults(path) == [("damaged-baseline", 1, "not a baseline file, or an incomplete one")]


def test_faults_name_the_file_that_the_content_is_of() -> None:
    found = parse_baseline(b"nothing", Path("v1.0:shop.ambr"))
    assert [fault.location.path for fault in found.faults] == ["v1.0:shop.ambr"]


def test_a_file_that_the_system_does_not_let_be_read_is_a_fault(path: Path) -> None:
    path.mkdir(parents=True)

    (fault,) = read(path).faults
    assert fault.location.path == str(path)
    assert fault.message == "the baseline cannot be read: Is a directory"
