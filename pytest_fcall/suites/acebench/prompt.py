"""The prompts, read from the original's code."""

from __future__ import annotations

from pathlib import Path

from pytest_fcall.core.values import Message
from pytest_fcall.suites.acebench.categories import Category
from pytest_fcall.suites.acebench.files import FOLDERS, HOW_TO_GET_IT, Question
from pytest_fcall.suites.json_files import find_file
from pytest_fcall.suites.prompt_texts import filled, module_literals


class Prompt:
    """The prompt of a category in one language. Raises ValueError where it cannot be read."""

    def __init__(self, language: str, category: Category, path: Path) -> None:
        file = find_file(path, f"model_inference/prompt_{language}.py", FOLDERS)
        if file is None:
            raise ValueError(f"no model_inference/prompt_{language}.py in {path}: {HOW_TO_GET_IT}")
        texts = module_literals(file)

        def text(name: str) -> str:
            if isinstance(found := texts.get(f"{name}_{language.upper()}"), str):
                return found
            raise ValueError(f"{file} is not that of ACEBench: it has no text {name}_{language.upper()}")

        self._system = text(f"SYSTEM_PROMPT_FOR_{_kind(category)}_DATA")
        self._user = text("USER_PROMPT")

    def messages(self, question: Question) -> tuple[Message, ...]:
        """Return the messages of a question."""
        functions = str([*map(dict, question.functions)])
        system = filled(self._system, {"time": question.time, "profile": question.profile, "function": functions})
        user = filled(self._user, {"question": question.text})
        return {"role": "system", "content": system}, {"role": "user", "content": user}


def _kind(category: Category) -> str:
    if category.kind == "problem":
        return "SPECIAL"
    return "PREFERENCE" if category.name == "normal_preference" else "NORMAL"
