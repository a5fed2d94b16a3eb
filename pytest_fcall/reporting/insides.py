"""What apps asked of models: it is all that is known of what the apps themselves took."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fcall.reporting.figures import cost_text, counted_text, tokens_of, total
from pytest_fcall.reporting.results import Inside, Result
from pytest_fcall.reporting.safe import safe_line


def inside_lines(results: Sequence[Result]) -> list[str]:
    """A line for each model that an app asked: `inside python:app:answer: 8 requests to openai:gpt-5.2, …`."""
    asked: dict[tuple[str, str], list[Inside]] = {}
    for result in results:
        for inside in result.inside:
            asked.setdefault((result.model, inside.model), []).append(inside)
    return [_line(app, model, inside) for (app, model), inside in asked.items()]


def _line(app: str, model: str, inside: Sequence[Inside]) -> str:
    tokens = total(tokens_of(each.usage) for each in inside)
    requests = sum(each.requests for each in inside)
    replayed = sum(each.requests for each in inside if each.replayed)
    parts = [
        f"inside {safe_line(app)}: {counted_text(requests, 'request')} to {safe_line(model)}",
        counted_text(tokens, "token") if tokens is not None else "",
        cost_text(total(each.cost for each in inside), sum(each.cost is None for each in inside)),
        "" if not replayed else "replayed" if replayed == requests else f"{replayed:,} replayed",
    ]
    return ", ".join(filter(None, parts))
