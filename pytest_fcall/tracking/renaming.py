"""Accepted and measured verdicts whose case, tool or parameter has another name now."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice, product
from pathlib import Path
from typing import Final

from pytest_fcall.core.reply import Call
from pytest_fcall.core.request import Tool
from pytest_fcall.schema.tool_names import ToolRename
from pytest_fcall.tracking.acceptance import read_stanzas, remove_cases
from pytest_fcall.tracking.baseline_content import write_baseline
from pytest_fcall.tracking.bookkeeping import measurement_path, read_measurement, write_measurement
from pytest_fcall.tracking.measurement import Key, Measurement
from pytest_fcall.tracking.question_digests import EXPECTATION, TOOL_PREFIX, had_parameters
from pytest_fcall.tracking.stanza import Stanza, StanzaRequest

_ORDER = "tools"
_MOST_TRIED: Final = 1_000
"""Most pairs of names of parameters that are tried for one tool."""


def move_case(path: Path, old: str, target: Path, new: str) -> None:
    """Move what is accepted and measured of a case to another baseline. Raises DamagedBaseline and OSError."""
    stanza, measured = read_stanzas(path)[old], read_measurement(measurement_path(path)).get(old)
    write_baseline(target, {**read_stanzas(target), new: stanza._replace(case=new)}.values())
    if measured is not None:
        other = measurement_path(target)
        write_measurement(other, {**read_measurement(other), new: replace(measured, case=new)}.values())
    remove_cases(path, lambda case: case == old)


def change_stanzas(path: Path, change: Callable[[Stanza], Stanza]) -> int:
    """Change what is accepted of each case, and have what is measured follow; how many changed.

    Raises DamagedBaseline and OSError.
    """
    old = read_stanzas(path)
    new = {case: change(stanza) for case, stanza in old.items()}
    changed = [case for case, stanza in new.items() if stanza != old[case]]
    if changed:
        target = measurement_path(path)
        before = read_measurement(target)
        after = {case: _following(each, old[case], new[case]) if case in old else each for case, each in before.items()}
        write_baseline(path, new.values())
        if after != before:
            write_measurement(target, after.values())
    return len(changed)


def _following(measured: Measurement, old: Stanza, new: Stanza) -> Measurement:
    """Measurements of the accepted question count for the renamed one."""
    return replace(measured, key=Key.of(new.digests)) if measured.key == Key.of(old.digests) else measured


def renamed_stanza(stanza: Stanza, rename: ToolRename, today: Mapping[str, Mapping[str, str]]) -> Stanza:
    """The stanza under the new name. `today` are the digests of each case as its file has it now; some may be missing.

    What differs between the digests of today and the accepted ones beside the name stays a difference.
    """
    calls, now = stanza.calls, today.get(stanza.case, {})
    renamed = None if calls is None else tuple(_renamed_call(call, rename) for call in calls)
    wire = None if stanza.wire is None else tuple(_renamed_wire(each, rename) for each in stanza.wire)
    digests = _renamed_digests(stanza.digests, rename, now)
    touched = renamed != calls or wire != stanza.wire or digests != stanza.digests
    if touched and EXPECTATION in digests and EXPECTATION in now:
        digests[EXPECTATION] = now[EXPECTATION]
    reasons = stanza.reasons
    if rename.parameter_of:
        reasons = tuple((kind, _renamed_path(path, rename, stanza)) for kind, path in reasons)
    return stanza._replace(calls=renamed, wire=wire, digests=digests, reasons=reasons)


def renamed_parameters(stanzas: Iterable[Stanza], tools: Iterable[Tool]) -> Iterator[ToolRename]:
    """The parameters of which one is gone from the tools of today, while one with an equal schema has come.

    The former schema is not kept, but its digest is, and calls have the name. So a name that calls have, and the tool
    has not, is put in the place of each parameter, until the digest is that of the former schema.
    """
    known = [*stanzas]
    for tool in tools:
        properties = tool.parameters.get("properties")
        if isinstance(properties, Mapping):
            calls = ((each, call) for each in known for call in each.calls or () if call.name == tool.name)
            gone = {name: each.digests for each, call in calls for name in call.arguments if name not in properties}
            for (old, digests), new in islice(product(gone.items(), properties), _MOST_TRIED):
                before = ToolRename(new, old, tool.name).parameters(tool.name, tool.parameters)
                if had_parameters(digests, tool.name, before):
                    yield ToolRename(old, new, tool.name)


def _renamed_call(call: Call, rename: ToolRename) -> Call:
    return replace(call, name=rename.name(call.name), arguments=rename.arguments(call.name, call.arguments))


def _renamed_wire(request: StanzaRequest, rename: ToolRename) -> StanzaRequest:
    calls = None if request.calls is None else tuple(_renamed_call(call, rename) for call in request.calls)
    return request._replace(calls=calls, digests=_renamed_digests(request.digests, rename, {}))


def _renamed_digests(digests: Mapping[str, str], rename: ToolRename, today: Mapping[str, str]) -> dict[str, str]:
    """The digests with the tool under its new name, or with the parameters that it has today."""
    if rename.parameter_of:
        key = TOOL_PREFIX + rename.parameter_of
        before, now = digests.get(key, ""), today.get(key, "")
        half = len(now) // 2  # of the description; the other one is of the parameters
        return {**digests, key: before[:half] + now[half:]} if before and now else dict(digests)
    old, new = TOOL_PREFIX + rename.old, TOOL_PREFIX + rename.new
    if old not in digests:
        return dict(digests)
    renamed = {new if name == old else name: value for name, value in digests.items()}
    tools, tools_today = ({name for name in each if name.startswith(TOOL_PREFIX)} for each in (renamed, today))
    if _ORDER in renamed and tools == tools_today and _ORDER in today:
        renamed[_ORDER] = today[_ORDER]
    return renamed


def _renamed_path(path: str, rename: ToolRename, stanza: Stanza) -> str:
    """The path of a reason, such as `calls[0].args.city.name`, with the argument under its new name."""
    found = re.fullmatch(rf"(calls\[(\d+)\]\.args\.){re.escape(rename.old)}(?=[.\[]|$)(.*)", path, re.DOTALL)
    calls = stanza.calls or ()
    if found is None or int(found[2]) >= len(calls) or calls[int(found[2])].name != rename.parameter_of:
        return path
    return f"{found[1]}{rename.new}{found[3]}"
