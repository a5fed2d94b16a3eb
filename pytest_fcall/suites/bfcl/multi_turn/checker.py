"""The official check of a conversation, run inside the contained process."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from pytest_fcall.suites.bfcl.source_calls import OfficialCaller
from pytest_fcall.suites.bfcl.world import Config, import_classes, instances_of

Turn: TypeAlias = "Sequence[Sequence[str]]"
"""The calls of each reply in a turn, as source."""

_LONGEST = 300
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def make() -> Checker:
    """Make what checks conversations, one after the other. Raises ImportError where there are no classes."""
    import_classes()
    return Checker()


class Checker:
    """Carries out the calls of a model, and the right ones, each on instances that are made for it alone."""

    def check(
        self,
        classes: Sequence[str],
        config: Config,
        long_context: bool,
        turns: Sequence[Turn],
        truth: Sequence[Sequence[str]],
    ) -> dict[str, object] | None:
        """Say what is wrong: `error_type`, the number of the `turn`, and in `found` where, and what was wanted and got.

        There are as many turns as the truth has. A turn in which nothing is right to be called is not looked at.
        """
        model = OfficialCaller("model", instances_of(classes, config, long_context))
        right = OfficialCaller("model_ground_truth", instances_of(classes, config, long_context))
        said: list[str] = []
        for number, (steps, sources) in enumerate(zip(turns, truth, strict=True)):
            said += [model.result_of(source) for step in steps for source in step]
            wanted = [right.result_of(source) for source in sources]
            if wanted and (wrong := _turn_fault(steps, model, right, said, wanted)):
                error_type, found = wrong
                return {"error_type": error_type, "turn": number, "found": found}
        return None


_Found: TypeAlias = "list[dict[str, str]]"


def _turn_fault(
    steps: Turn, model: OfficialCaller, right: OfficialCaller, said: Sequence[str], wanted: Sequence[str]
) -> tuple[str, _Found] | None:
    if not any(steps):
        return "empty_turn_model_response", []
    for name, instance in right.instances.items():
        if different := list(_state_differences(name, model.instances[name], instance)):
            return "instance_state_mismatch", different
    if missing := Counter(wanted) - Counter(said):
        return "execution_response_mismatch", [{"wanted": _cut(result)} for result in missing.elements()]
    return None


def _state_differences(name: str, got: object, right: object) -> Iterator[dict[str, str]]:
    """The public attributes that are not equal, as their own classes compare them."""
    for attribute, value in vars(right).items():
        if not attribute.startswith("_") and (held := getattr(got, attribute)) != value:
            yield {"where": f"{name}.{attribute}", "wanted": _cut(_written(value)), "got": _cut(_written(held))}


def _written(value: Any) -> str:
    try:
        return _ADDRESS.sub("", repr(value))
    except Exception as error:  # a class's own way to write itself
        return f"<{type(value).__name__} that raises {type(error).__name__} when it is written>"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
