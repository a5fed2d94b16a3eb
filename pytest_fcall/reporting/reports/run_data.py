"""A report as the file of its run: all of its data, as in `.fcall/runs`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from textwrap import indent
from typing import Final, cast

from pytest_fcall.core.values import Json
from pytest_fcall.reporting.reports.report import Report

_DEPTH: Final = 3 * " "
_END: Final = "[]\n }\n}"


def write(report: Report) -> Iterator[str]:
    """The JSON of the run, result by result."""
    results = cast("Mapping[str, Json]", report.data["results"])
    figures = {name: value for name, value in results.items() if name != "results"}
    others = {name: value for name, value in report.data.items() if name != "results"}
    yield _text({**others, "results": {**figures, "results": []}}).removesuffix(_END)
    before = "[\n"
    for row in cast("Sequence[Json]", results["results"]):
        yield f"{before}{indent(_text(row), _DEPTH)}"
        before = ",\n"
    yield f"{_END}\n" if before == "[\n" else "\n  ]\n }\n}\n"


def _text(value: Json) -> str:
    return json.dumps(value, indent=1, ensure_ascii=True)
