"""Questions that are asked in many formats, as cases."""

from __future__ import annotations

from dataclasses import replace

from pytest_fcall.core.case import Case
from pytest_fcall.suites.bfcl.cases import messages_of
from pytest_fcall.suites.bfcl.categories import Category
from pytest_fcall.suites.bfcl.data import Row
from pytest_fcall.suites.bfcl.fields import objects
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

    def case(self, row: Row) -> Case:
        """The case of a row; BrokenRow says what is wrong with it."""
        case, form = self._untold.case(row), format_of(row.id)
        # The hint on the language is given twice, as the official harness gives it here.
        told = documents(documents(objects(row.data, "function"), "python"), "python")
        messages = self._prompt.told(messages_of(row.data.get("question")), told, form)
        turn = replace(case.turns[0], messages=messages)
        return replace(case, turns=(turn,), category=form.category, tools_told=True, decoder=form.decoder)
