"""The classes as an environment with the official harness's texts: `pytest_fcall.suites.bfcl.multi_turn.world:make`.

The official check of a conversation runs in such a process, too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from pytest_fcall.suites.bfcl.source_calls import OfficialCaller
from pytest_fcall.suites.bfcl.world import Config, import_classes, instances_of

SourceTurn: TypeAlias = "Sequence[Sequence[str]]"
"""The calls of each reply in a turn, as source."""

_LONGEST = 300
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def make(classes: Sequence[str], config: Config, long_context: bool) -> dict[str, Callable[..., str]]:
    """Make new instances. Their public methods are the tools; results and errors are text."""
    return OfficialCaller("model", instances_of(classes, config, long_context)).tools()


def make_checker() -> Checker:
    """Make the checker. Raises ImportError, with the way to install the classes."""
    import_classes()
    return Checker()


class Checker:
    """Executes the calls of a model and the right calls, on separate new instances."""

    def check(
        self,
        classes: Sequence[str],
        config: Config,
        long_context: bool,
        turns: Sequence[SourceTurn],
        truth: Sequence[Sequence[str]],
    ) -> dict[str, object] | None:
        """Return the first difference: `error_type`, the number of the `turn`, and in `found` where, wanted and got.

        None means that there is none. The truth must have as many turns; a turn without right calls is not checked.
        """
        model = OfficialCaller("model", instances_of(classes, config, long_context))
        right = OfficialCaller("model_ground_truth", instances_of(classes, config, long_context))
        results: list[str] = []
        for number, (steps, sources) in enumerate(zip(turns, truth, strict=True)):
            results += [model.run(source) for step in steps for source in step]
            wanted = [right.run(source) for source in sources]
            if wanted and (wrong := _turn_fault(steps, model, right, results, wanted)):
                error_type, found = wrong
                return {"error_type": error_type, "turn": number, "found": found}
        return None


_Found: TypeAlias = "list[dict[str, str]]"


def _turn_fault(
    steps: SourceTurn, model: OfficialCaller, right: OfficialCaller, results: Sequence[str], wanted: Sequence[str]
) -> tuple[str, _Found] | None:
    if not any(steps):
        return "empty_turn_model_response", []
    for name, instance in right.instances.items():
        if different := list(_state_differences(name, model.instances[name], instance)):
            return "instance_state_mismatch", different
    if missing := Counter(wanted) - Counter(results):
        return "execution_response_mismatch", [{"wanted": _cut(result)} for result in missing.elements()]
    return None


def _state_differences(name: str, got: object, right: object) -> Iterator[dict[str, str]]:
    """The public attributes that differ."""
    for attribute, value in vars(right).items():
        if not attribute.startswith("_") and (own := getattr(got, attribute)) != value:
            yield {"where": f"{name}.{attribute}", "wanted": _cut(_written(value)), "got": _cut(_written(own))}


def _written(value: Any) -> str:
    try:
        return _ADDRESS.sub("", repr(value))
    except Exception as error:  # from the class's own __repr__
        return f"<{type(value).__name__} whose repr raises {type(error).__name__}>"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
