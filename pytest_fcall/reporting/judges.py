"""What the models that judge were asked, apart from what those took that they judged."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fcall.reporting.figures import cost_text, counted_text, tokens_of, total
from pytest_fcall.reporting.results import Judging, Result
from pytest_fcall.reporting.safe import safe_line


def judge_lines(results: Sequence[Result]) -> list[str]:
    """A line for each judge: `judge openai:gpt-5.2: 12 questions about 9 cases, 3,400 tokens, $0.0100`."""
    judgings = [result.judging for result in results if result.judging]
    models = dict.fromkeys(judging.model for judging in judgings)
    return [_line(model, [judging for judging in judgings if judging.model == model]) for model in models]


def _line(model: str, judgings: Sequence[Judging]) -> str:
    questions = counted_text(sum(judging.questions for judging in judgings), "question")
    tokens = total(tokens_of(judging.usage) for judging in judgings)
    unpriced = sum(judging.cost is None for judging in judgings)
    parts = [
        f"judge {safe_line(model)}: {questions} about {counted_text(len(judgings), 'case')}",
        counted_text(tokens, "token") if tokens is not None else "",
        cost_text(total(judging.cost for judging in judgings), unpriced),
    ]
    return ", ".join(filter(None, parts))
