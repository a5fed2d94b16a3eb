"""The playground's stand-ins for compiled libraries, held to these; and what it says of cases that it does not judge.

What is compared runs in a process that has the archive of the page and Python's own library, and nothing else.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from pytest_fcall.schema.findings import FORMAT_DESCRIPTIONS
from tests.by_night import by_night
from tests.pages import ROOT
from tests.unit.playground_process import answers as compiled
from tests.unit.playground_process.generated import FORMATS, broken_texts, expressions, schema_questions, yaml_texts

SITE = ROOT / "docs" / "site"
WRITE = """
import sys
sys.path.insert(0, sys.argv[1])
from playground.archive import *
write_archive(Path(sys.argv[2]))
"""
_SERVE = """
import sys
sys.path[:0] = [sys.argv[1], sys.argv[2]]
import judge, answers
answers.serve()
"""
Ask = Callable[[str, list[Any]], list[Any]]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written_archive(tmp_path_factory.mktemp("archive"))


def written_archive(folder: Path) -> Path:
    subprocess.run([sys.executable, "-c", WRITE, str(SITE), str(folder / "a.zip")], check=True)
    return folder / "a.zip"


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory, archive: Path) -> Iterator[Ask]:
    """Ask functions of `answers` below, by name, in a process without compiled libraries."""
    home = tmp_path_factory.mktemp("playground")
    with ZipFile(archive) as packed:
        packed.extractall(home)
    extensions = find_spec("typing_extensions")
    assert extensions is not None
    # A library of Python 3.13, which browsers have, is a package before.
    (home / "typing_extensions.py").write_bytes(Path(str(extensions.origin)).read_bytes())
    command = [sys.executable, "-I", "-S", "-c", _SERVE, str(home), str(Path(__file__).with_name("playground_process"))]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    assert process.stdin is not None
    assert process.stdout is not None

    def answer_of_process(name: str, questions: list[Any]) -> list[Any]:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps([name, questions]) + "\n")
        process.stdin.flush()
        found = json.loads(process.stdout.readline())
        assert len(found) == len(questions)
        return list(found)

    yield answer_of_process
    process.stdin.close()
    process.wait()
    process.stdout.close()


def _compiled_answer(name: str, question: Any) -> Any:
    return json.loads(json.dumps(getattr(compiled, name)(question)))


def _differences(ask: Ask, name: str, questions: list[Any]) -> Iterator[tuple[Any, Any, Any]]:
    for question, here in zip(questions, ask(name, questions), strict=True):
        if (there := _compiled_answer(name, question)) != here:
            yield question, there, here


@pytest.mark.parametrize("count", [60, by_night(150)])
def test_the_same_arguments_have_the_same_findings_by_both_validators(ask: Ask, count: int) -> None:
    questions = list(schema_questions(count))
    assert next(_differences(ask, "schema", questions), None) is None
    verdicts = [value[0] for question in questions for value in _compiled_answer("schema", question) if len(value) == 3]
    assert 50 < sum(verdicts) < len(verdicts) - 50  # both kinds are among them


@pytest.mark.nightly
def test_the_same_arguments_are_valid_by_both_validators(ask: Ask) -> None:
    """jsonschema-rs sometimes leaves out a finding about a property that is not evaluated, beside others."""
    questions = list(schema_questions(5000))
    differing = list(_differences(ask, "schema", questions))
    for _, there, here in differing:
        assert [value[0] for value in there] == [value[0] for value in here]
        for one, other in zip(there, here, strict=True):
            assert [each for each in one[1] if each[0] != "unexpected_argument"] == [
                each for each in other[1] if each[0] != "unexpected_argument"
            ]
    assert len(differing) < len(questions) / 100


def test_strings_are_of_the_same_formats_by_both_validators(ask: Ask) -> None:
    """Those that the page does not check, it names."""
    texts = [
        *("", "a", "2026-11-21", "2026-02-29", "2024-02-29", "0000-01-01", "2026-13-01", "2026-1-1", "20261121"),
        *(
            "16:30:00Z",
            "16:30:00",
            "24:00:00Z",
            "23:59:60Z",
            "22:59:60Z",
            "00:29:60+00:30",
            "16:30:00.5+01:00",
            "16:30Z",
        ),
        *(
            "2026-11-21T16:30:00Z",
            "2026-11-21t16:30:00z",
            "2026-11-21 16:30:00Z",
            "2026-11-21T16:30:00",
            "16:30:00+24:00",
        ),
        *("P1D", "PT1H30M", "P", "PT", "P1W", "P1W2D", "P1Y2M3DT4H5M6S", "P1YT", "PT1.5S", "P1M1Y", "PT1H1S", "P1Y1D"),
        *(
            "a@b.org",
            "a@b",
            "@b.org",
            "a@",
            "a.b@c.org",
            "a..b@c.org",
            ".a@b.org",
            "A <a@b.org>",
            "a@[10.0.0.1]",
            "a@[IPv6:::1]",
            "a@[1]",
            "a b@c.org",
        ),
        *(
            '"a b"@c.org',
            "a@-b.org",
            "a@b_c.org",
            "é@b.org",
            "10.0.0.1",
            "256.0.0.1",
            "010.0.0.1",
            "1.2.3",
            "::1",
            "::g",
            "1::2::3",
        ),
        *(
            "fe80::1%eth0",
            "::ffff:10.0.0.1",
            "example.org",
            "-a.org",
            "a-.org",
            "a" * 64,
            "a" * 63,
            "a.org.",
            "a_b",
            "xn--a",
            "ab--c",
        ),
        *("/a/0", "a", "/~0~1", "/~2", "0/a", "1#", "01/a", "-1/a", "0#a", "2eb8aa08-aa98-11ea-b4aa-73b441d16380"),
        *(
            "2eb8aa08aa9811eab4aa73b441d16380",
            "2eb8aa08-aa98-11ea-b4aa-73b441d1638",
            "a\n",
            "2026-11-21\n",
            "٢٠٢٦-١١-٢١",
        ),
    ]
    questions = [
        [{"type": "object", "properties": {"a": {"type": "string", "format": name}}}, [{"a": text} for text in texts]]
        for name in FORMATS
    ]
    differing = {
        (question[0]["properties"]["a"]["format"], text, one[0])
        for question, there, here in _differences(ask, "schema", questions)
        for text, one, other in zip(texts, there, here, strict=True)
        if one != other
    }
    assert differing == set()
    page = (ROOT / "docs" / "playground.md").read_text("utf-8")
    row = next(line for line in page.splitlines() if line.startswith("| formats of strings"))
    assert set(re.findall(r"`([a-z-]+)`", row)) == FORMAT_DESCRIPTIONS.keys() - set(FORMATS)


def test_all_yaml_of_the_repository_has_the_same_nodes_in_the_same_places(ask: Ask) -> None:
    texts = list(yaml_texts())
    assert len(texts) > 100
    assert next(_differences(ask, "document", texts), None) is None


@pytest.mark.parametrize("count", [100, by_night(300)])
def test_broken_yaml_has_the_same_fault_in_the_same_place(ask: Ask, count: int) -> None:
    assert next(_differences(ask, "document", list(broken_texts(count))), None) is None


def test_an_expression_matches_the_same_texts_or_is_not_read(ask: Ask) -> None:
    """What Python's `re` lacks is never an expression that means something else."""
    differing = {question[0]: here for question, _, here in _differences(ask, "expression", list(expressions()))}
    assert set(differing.values()) == {"unavailable"}
    assert len(differing) < 15


CASE = """
tools:
  - name: f
    parameters: {type: object, properties: {a: {type: string, format: FORMAT}}}
cases:
  - id: one
    prompt: Go.
    KEY: VALUE
    expect: [{f: EXPECTED}]
"""


def _case(key: str = "tags", value: str = "[a]", expected: str = "{a: x}", form: str = "none") -> str:
    return CASE.replace("KEY", key).replace("VALUE", value).replace("EXPECTED", expected).replace("FORMAT", form)


CALL = '[{"name": "f", "arguments": {"a": "x"}}]'


def _one(ask: Ask, case: str, reply: str = CALL, form: str = "") -> Any:
    ((result,),) = ask("judged", [[case, reply, form]])
    return result


@pytest.mark.parametrize(
    ("case", "words"),
    [
        (
            _case("turns", "[{user: b, expect: no_call}, {user: c, expect: no_call}]")
            .replace("    prompt: Go.\n", "")
            .replace("    expect: [{f: {a: x}}]\n", ""),
            "one reply",
        ),
        (_case(expected="{a: {$judge: It is kind.}}"), "$judge"),
        (_case(expected="{a: {$rouge: like this}}"), "rouge-score"),
        (_case(expected="{a: {$regex: '\\p{L}+'}}"), "regular expression"),
        (_case("wire", "{count: 1}"), "wire"),
        (_case("result", "3"), "results of calls"),
    ],
)
def test_what_cannot_be_judged_in_a_browser_is_neither_right_nor_wrong(ask: Ask, case: str, words: str) -> None:
    result = _one(ask, case)
    assert result["status"] in ("open", "fault")
    assert words in result["text"]


def test_code_in_java_is_not_judged_here(ask: Ask) -> None:
    result = _one(ask, _case(), "[f(a='x')]", "bfcl_java")
    assert result["status"] == "open"
    assert "tree-sitter" in result["text"]


def test_a_format_that_is_not_checked_is_told_beside_the_verdict(ask: Ask) -> None:
    result = _one(ask, _case(form="uri"))
    assert (result["status"], result["title"]) == ("right", "The reply is right as far as checked")
    assert "`uri`" in result["text"]


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (CALL, "right"),
        (
            '{"role": "assistant", "tool_calls": '
            '[{"id": "1", "function": {"name": "f", "arguments": "{\\"a\\": \\"x\\"}"}}]}',
            "right",
        ),
        (
            '{"content": [{"type": "tool_use", "id": "1", "name": "f", "input": {"a": "y"}}], "role": "assistant"}',
            "wrong",
        ),
        ("No call.", "wrong"),
        ('"No call."', "wrong"),
        ('{"a": 1}', "open"),
        ("[" * 100_000, "wrong"),
        ("", "wrong"),
        ("17", "wrong"),
    ],
)
def test_a_reply_is_json_of_any_shape_or_text(ask: Ask, reply: str, status: str) -> None:
    assert _one(ask, _case(), reply)["status"] == status


def test_the_examples_are_judged_as_their_titles_say(ask: Ask) -> None:
    folder = SITE / "playground" / "examples"
    found = {}
    for path in sorted(folder.glob("*.fc.yaml")):
        reply = path.with_name(path.name.replace(".fc.yaml", ".reply.txt")).read_text("utf-8")
        found[path.name[0]] = _one(ask, path.read_text("utf-8"), reply)["status"]
    assert found == {"1": "right", "2": "wrong", "3": "right", "4": "right", "5": "wrong", "6": "right"}


@pytest.mark.nightly  # to pack it once more takes as long as all other tests of this file
def test_the_archive_has_the_same_bytes_each_time(archive: Path, tmp_path: Path) -> None:
    assert written_archive(tmp_path).read_bytes() == archive.read_bytes()
