"""Baselines in files for version control: a stanza of JSON for each case, in the amber format of syrupy's snapshots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from pytest_fcall.core import Fault, Location, Model
from pytest_fcall.core.readable_json import readable_json
from pytest_fcall.core.whole_file import replace_file
from pytest_fcall.tracking.measurement import Measured, measurement_path, read_measurement
from pytest_fcall.tracking.stanza import Stanza, parse_stanza, stanza_to_json

SUFFIX = ".ambr"

_VERSION = "fcall-1"
_FIRST_LINE = f"# serializer version: {_VERSION}"
_NAME = "# name:"
_END = "# ---"
_INDENT = "  "
_HINT = "Restore the file from version control, or remove it and accept its cases again."


@dataclass(frozen=True, slots=True)
class Baseline:
    """The accepted stanzas of one case file, by case id. With faults it has no stanzas."""

    stanzas: Mapping[str, Stanza] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    measured: Mapping[str, Measured] = field(default_factory=dict)
    """What is measured of the cases, whether they are accepted or not."""


def baseline_path(case_file: Path, model: Model) -> Path:
    """The path of a baseline: `__fcall__/<model>/<file name>.ambr`, beside the case file."""
    return case_file.parent / "__fcall__" / model.folder / f"{case_file.name}{SUFFIX}"


def read_baseline(path: Path) -> Baseline | None:
    """Read a file, and the measurement beside it; None where there is none. Errors become faults."""
    try:
        content = path.read_bytes()
        return replace(parse_baseline(content, path), measured=read_measurement(measurement_path(path)))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        file = Path(error.filename or path)  # the measurement beside it may be what cannot be read
        return Baseline(faults=(_fault(file, 1, f"the baseline cannot be read: {error.strerror}"),))


def parse_baseline(content: bytes, path: Path) -> Baseline:
    """Read the content of a file. Errors become faults, which name `path`."""
    return _BaselineReader(path, content).baseline()


def write_baseline(path: Path, stanzas: Iterable[Stanza]) -> None:
    """Replace the file atomically; equal stanzas give equal bytes. Without stanzas, the file is removed.

    Raises OSError, and ValueError, TypeError or RecursionError for a stanza that is not JSON; the file then stays.
    """
    by_case = sorted(stanzas, key=lambda stanza: stanza.case)
    if not by_case:
        path.unlink(missing_ok=True)
        return
    lines = (_FIRST_LINE, *(line for each in by_case for line in _stanza_lines(each)))
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, [f"{line}\n".encode() for line in lines])


def _stanza_lines(stanza: Stanza) -> Iterator[str]:
    """JSON that can be reviewed: one line for each field, call and reason."""
    yield f"{_NAME} {stanza.case}"
    yield f"{_INDENT}{{"
    fields = [f"{readable_json(name)}: {_field_text(value)}" for name, value in stanza_to_json(stanza).items()]
    yield ",\n".join(f"{_INDENT}  {text}" for text in fields)
    yield f"{_INDENT}}}"
    yield _END


def _field_text(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], list | dict):
        return "[\n" + ",\n".join(f"{_INDENT}    {readable_json(each)}" for each in value) + f"\n{_INDENT}  ]"
    return readable_json(value)


class _StanzaText(NamedTuple):
    """The lines of one stanza, and the number of the first."""

    case: str
    line: int
    text: str


class _BaselineReader:
    """Reads one file. A line that is not understood is a fault: it may be a verdict."""

    def __init__(self, path: Path, content: bytes) -> None:
        self._path = path
        self._content = content
        self._faults: list[Fault] = []

    def baseline(self) -> Baseline:
        try:
            lines = [line.rstrip("\r") for line in self._content.decode().split("\n")]
        except UnicodeDecodeError:
            return Baseline(faults=(_fault(self._path, 1, "not a baseline file, or an incomplete one"),))
        if conflicts := tuple(self._conflicts(lines)):
            return Baseline(faults=conflicts)
        if lines[0] != _FIRST_LINE:
            message = f"not a baseline file in the format {_VERSION!r}"
            return Baseline(faults=(_fault(self._path, 1, message, lines[0]),))
        found = self._by_case(lines)
        if self._faults:
            return Baseline(faults=tuple(self._faults))
        stanzas = {each.case: stanza for each in found if (stanza := self._stanza(each))}
        return Baseline(faults=tuple(self._faults)) if self._faults else Baseline(stanzas)

    def _conflicts(self, lines: list[str]) -> Iterator[Fault]:
        for number, line in enumerate(lines, start=1):
            if line.startswith("<<<<<<< "):
                hint = "Resolve it: keep one of the two stanzas of each case, complete from `# name:` to `# ---`."
                where = Location(str(self._path), number)
                yield Fault("merge-conflict", where, "an unresolved merge conflict", line, hint)

    def _by_case(self, lines: list[str]) -> list[_StanzaText]:
        """The stanzas; what is no stanza, or no whole one, becomes a fault."""
        found: dict[str, _StanzaText] = {}
        case, first, body = "", 0, list[str]()
        for number, line in enumerate(lines[1:], start=2):
            if line.startswith(_NAME):
                self._check_ended(case, first)
                case, first, body = line.removeprefix(_NAME).strip(), number, []
                if not case:
                    self._add(number, "a stanza without the name of its case", line)
            elif case and line == _END:
                if case in found:
                    self._add(first, f"duplicate case {case!r}, first in line {found[case].line}")
                found.setdefault(case, _StanzaText(case, first, "\n".join(body)))
                case = ""
            elif case and line.startswith(_INDENT):
                body.append(line)
            elif line:
                self._add(number, "this line is not part of a stanza", line)
        self._check_ended(case, first)
        return [*found.values()]

    def _check_ended(self, case: str, first: int) -> None:
        if case:
            self._add(first, f"the stanza of {case!r} is incomplete")

    def _stanza(self, found: _StanzaText) -> Stanza | None:
        try:
            stanza = parse_stanza(found.text)
        except ValueError as error:
            why = str(error)
        else:
            if stanza.case == found.case:
                return stanza
            why = f"it names the case {stanza.case!r}"
        self._add(found.line, f"the stanza of {found.case!r} cannot be read: {why}")
        return None

    def _add(self, line: int, message: str, source: str = "") -> None:
        self._faults.append(_fault(self._path, line, message, source))


def _fault(path: Path, line: int, message: str, source: str = "") -> Fault:
    return Fault("damaged-baseline", Location(str(path), line), message, source, _HINT)
