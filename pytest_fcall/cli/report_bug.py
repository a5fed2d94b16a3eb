"""`fcall report-bug`: everything that reproduces a verdict, to be pasted into a report."""

from __future__ import annotations

import json
import platform
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_fcall.cases.case_text import single_case_text
from pytest_fcall.cases.faults import UnreadableFile
from pytest_fcall.cases.yaml.reader import read_text, read_yaml
from pytest_fcall.cli.command_parser import command_parser
from pytest_fcall.cli.safe_output import machine_secrets
from pytest_fcall.core.files import replace_file
from pytest_fcall.core.reply import RawCall, Reply
from pytest_fcall.core.values import Json
from pytest_fcall.reporting.faults import fault_text
from pytest_fcall.reporting.safe_text import laid_out, safe_line
from pytest_fcall.traces.masking import Masker

if TYPE_CHECKING:
    from pytest_fcall.session.judge.samples import JudgedAnswer

_CASE_FILE: Final = "bug.fc.yaml"
_REPLIES: Final = "replies.jsonl"
_EXAMPLES = """\
examples:
  fcall report-bug cases/shop.fc.yaml::celsius
  fcall report-bug cases/shop.fc.yaml::celsius --fc-model=openai:gpt-5.2
  fcall report-bug cases/shop.fc.yaml::celsius -o bug.md
  fcall report-bug cases/shop.fc.yaml::celsius --no-mask      where masking changes the verdict

Prints the case with its tools, the recorded reply, the verdict and the versions as Markdown. Keys, mail addresses,
telephone numbers and the like are masked, the same one everywhere by the same stand-in. Read it before you paste it. No
model is asked. The verdict is made again from what is printed; where it differs, that is said.
"""


class _Packed(NamedTuple):
    """A verdict, with the case and the replies that reproduce it."""

    case: str
    """The text of a case file."""
    replies: str
    """A line of JSON for `fcall score`."""
    valid: bool
    reasons: tuple[str, ...]


def run(arguments: Sequence[str]) -> int:
    """Print what reproduces the verdict on a case; 1 where there is no reply, or it cannot be reproduced."""
    parser = _parser()
    options = parser.parse_args(arguments)
    name, _, case = options.case.partition("::")
    path = Path(name).absolute()
    if not path.is_file() or not case:
        parser.error(f"{safe_line(options.case)}: name a case as FILE::ID, such as cases/shop.fc.yaml::celsius")
    try:
        packed = _pack(path, case, options)
    except UnreadableFile as unreadable:
        parser.error(fault_text(unreadable.fault, Path.cwd()))
    except ValueError as why:
        print(f"fcall report-bug: {safe_line(str(why))}", file=sys.stderr)
        return 1
    note = _difference(packed)
    text = "\n".join(_markdown(packed, note)) + "\n"
    if options.output is None:
        print(text, end="")
    else:
        replace_file(options.output, [text.encode()])
        print(f"{safe_line(str(options.output))}: read it before you paste it")
    if note:
        print(f"fcall report-bug: {note}", file=sys.stderr)
    return 1 if note else 0


def _parser() -> ArgumentParser:
    parser = command_parser("report-bug", "Pack a case, its recorded reply and the verdict for a report.", _EXAMPLES)
    parser.add_argument("case", metavar="FILE::ID", help="the case")
    parser.add_argument("--fc-model", metavar="KIND:NAME", help="the model (default: the configured one)")
    parser.add_argument("--no-mask", action="store_true", help="leave personal data as it is; known keys are masked")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write it to FILE")
    return parser


def _pack(path: Path, case: str, options: Namespace) -> _Packed:
    """Judge the recorded reply of a case. Raises ValueError where there is none, and UnreadableFile."""
    import pytest

    from pytest_fcall.cli.answer_reader import AnswerCollector
    from pytest_fcall.cli.pytest_run import run_pytest_offline

    source = read_text(path, str(path))
    read_yaml(source)  # what is no YAML is told as such, and not as a case that is not there
    collector = AnswerCollector(path, source.text, frozenset({case}))
    model = [f"--fc-model={options.fc_model}"] if options.fc_model else []
    quiet = ["-o", "fc_runs=0", "--fc-vary=off", "--fc-confirm=0", "--fc-replay"]
    status, output = run_pytest_offline([*quiet, *model, str(path)], collector)
    answers = collector.answers.get(case)
    if answers is None:
        no_case = f"there is no case {case!r} in {path.name}"
        raise ValueError(collector.failures.get(case) or (output if status == pytest.ExitCode.USAGE_ERROR else no_case))
    judged = next((each for each in answers.judged if not each.verdict.valid), answers.judged[0])
    masker = Masker(usual=not options.no_mask, known=machine_secrets().values)
    written = single_case_text(source, answers.case.location.line, answers.case.tools)
    return _Packed(
        masker.mask_text(written),
        json.dumps(masker.mask_value(_row(case, judged)), ensure_ascii=False),
        judged.verdict.valid,
        tuple(masker.mask_text(f"{each.kind} at {each.path}: {each.message}") for each in judged.verdict.reasons),
    )


def _row(case: str, judged: JudgedAnswer) -> dict[str, Json]:
    """The answer as `fcall score` reads it."""
    transcript = judged.answer.transcript
    if transcript is None:
        return {"id": case, "reply": _message(judged.reply, judged)}
    return {"id": case, "replies": [_message(step.reply, None) for step in transcript.steps]}


def _message(reply: Reply, judged: JudgedAnswer | None) -> Json:
    """A reply as a message; calls that a decoder read from text are calls here."""
    if judged is not None and reply.decoder and judged.calls.malformed is None:
        return [{"name": call.name, "arguments": dict(call.arguments)} for call in judged.calls.calls] or reply.text
    calls = [_call(call, number) for number, call in enumerate(reply.tool_calls)]
    refusal = {"refusal": reply.refusal} if reply.refusal else {}
    return {"role": "assistant", "content": reply.text, **({"tool_calls": calls} if calls else {}), **refusal}


def _call(call: RawCall, number: int) -> Json:
    function: Json = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id or f"call_{number}", "type": "function", "function": function}


def _difference(packed: _Packed) -> str:
    """The difference of the verdict that is made again from the printed text; empty where there is none."""
    from pytest_fcall.cli.score.collected_cases import UnreadableCases
    from pytest_fcall.cli.score.own_cases import OwnCaseJudge
    from pytest_fcall.suites.json_files import BrokenRow

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, _CASE_FILE).write_text(packed.case, "utf-8")
        try:
            row = OwnCaseJudge(_CASE_FILE, Path(folder)).judge(json.loads(packed.replies)).verdict
        except (UnreadableCases, BrokenRow) as error:
            row = {"error": str(error)}
    if "valid" not in row:
        problem = row.get("error") or row.get("skipped") or row.get("not_judged")
        return f"the verdict cannot be made again from this: {safe_line(str(problem))}"
    if row["valid"] != packed.valid:
        return "the verdict made from this differs: masking, or something beside the case, decides; see --no-mask"
    return ""


def _markdown(packed: _Packed, note: str) -> Iterator[str]:
    yield from _section("The case", "yaml", packed.case, f"`{_CASE_FILE}`")
    yield from _section("The reply of the model", "json", packed.replies, f"`{_REPLIES}`")
    verdict = ["passed"] if packed.valid else ["failed", *packed.reasons]
    yield from _section("The verdict that you got", "text", "\n".join(verdict))
    yield from ("### The verdict that you expect, and why", "", "…", "")
    yield from ("### Versions", "", _versions(), "")
    if note:
        yield f"Careful: {note}."
    else:
        yield f"`fcall score --cases {_CASE_FILE} {_REPLIES}` gives this verdict."


def _section(title: str, language: str, text: str, name: str = "") -> Iterator[str]:
    fence = "```"
    while fence in text:
        fence += "`"
    yield from (f"### {title}", "", *([name, ""] if name else ()))
    yield from (f"{fence}{language}", laid_out(text.rstrip("\n")), fence, "")


def _versions() -> str:
    own = ", ".join(f"{name} {version(name)}" for name in ("pytest-fcall", "pytest"))
    return f"{own}, Python {platform.python_version()}, {platform.system()}"
