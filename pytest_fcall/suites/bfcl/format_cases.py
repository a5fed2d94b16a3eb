"""Questions that are asked in many formats, as cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_fcall.core.case import Case
from pytest_fcall.core.fault import Location
from pytest_fcall.core.values import Json, Message
from pytest_fcall.suites.bfcl.cases import messages_of
from pytest_fcall.suites.bfcl.categories import Category
from pytest_fcall.suites.bfcl.data import Row
from pytest_fcall.suites.bfcl.fields import objects
from pytest_fcall.suites.bfcl.judging import BfclJudge
from pytest_fcall.suites.bfcl.prompt import Prompt
from pytest_fcall.suites.bfcl.prompt_format import format_of
from pytest_fcall.suites.bfcl.single_turn import SingleTurnReader
from pytest_fcall.suites.bfcl.told import documents


class FormatReader:
    """Reads their rows. Each format is a category, so that its accuracy is told.

    Raises ValueError, in words, without a prompt: native calls have no format to be asked for.
    """

    def __init__(self, category: Category, prompt: Prompt | None) -> None:
        if prompt is None:
            raise ValueError(
                f"bfcl:{category.name} compares prompts, of which native calls have none: ask it with `mode: prompt` "
                "or --fc-suite-mode=prompt"
            )
        self._prompt = prompt
        self._untold = SingleTurnReader(category, None)
        self._questions: dict[Location, _Question] = {}

    def case(self, row: Row) -> Case:
        """The case of a row; BrokenRow says what is wrong with it."""
        if row.place not in self._questions:
            self._questions[row.place] = self._question(row)
        question, form = self._questions[row.place], format_of(row.id)
        messages = self._prompt.told(question.messages, question.documents, form)
        case = question.case
        return replace(
            case,
            id=row.id,
            turns=(replace(case.turns[0], messages=messages),),
            category=form.category,
            tools_told=True,
            decoder=form.decoder,
            judge=BfclJudge(row.data, row.place),
        )

    def _question(self, row: Row) -> _Question:
        # The hint on the language is given twice, as the official harness gives it here.
        told = documents(documents(objects(row.data, "function"), "python"), "python")
        return _Question(self._untold.case(row), messages_of(row.data.get("question")), told)


@dataclass(frozen=True, slots=True)
class _Question:
    """What is the same in all formats."""

    case: Case
    messages: Sequence[Message]
    documents: Sequence[Mapping[str, Json]]
