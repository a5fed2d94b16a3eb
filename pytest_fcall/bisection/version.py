"""Two versions of the question of a case, and the versions between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pytest_fcall.backends.redaction import without_secrets
from pytest_fcall.bisection.edit import Choice, Chosen, Edit, EditList, between, whole_choice
from pytest_fcall.bisection.message_edits import Messages, message_choice
from pytest_fcall.bisection.tool_edits import Tools, tool_choice
from pytest_fcall.core.digests import canonical, same_json
from pytest_fcall.core.request import Request
from pytest_fcall.core.values import Json

Settings = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class LaterTurn:
    """The messages and tools that a later turn of a case adds to its question."""

    messages: Messages
    tools: Tools | None = None
    """The tools offered from this turn on; None for no change."""


@dataclass(frozen=True, slots=True)
class Version:
    """A question as a model gets it."""

    model: str
    """Its id."""
    request: Request
    turns: tuple[LaterTurn, ...] = ()


class Difference:
    """The edits between two versions, and any version between them.

    Without edits that is the old version, with all of them the new one, digest for digest. What no digest covers, such
    as the clock, is that of the new version.
    """

    def __init__(self, old: Version, new: Version) -> None:
        edits = EditList()
        before, after = old.request, new.request
        self._new = new
        self._model = _model_choice(edits, old.model, new.model)
        self._messages = message_choice(edits, before.messages, after.messages)
        self._tools = tool_choice(edits, before.tools, after.tools)
        self._settings = _settings_choice(edits, before.settings, after.settings)
        turns = zip((*old.turns, *new.turns[len(old.turns) :]), new.turns, strict=False)
        self._turns = [_turn_choice(edits, *pair, f"turn {number}: ") for number, pair in enumerate(turns, 2)]
        self.edits: tuple[Edit, ...] = (*edits,)

    @property
    def all(self) -> frozenset[int]:
        """All edits."""
        return frozenset(range(len(self.edits)))

    def version(self, chosen: Chosen) -> Version:
        """The question with these edits."""
        settings = self._settings(chosen)
        request = replace(
            self._new.request,
            messages=self._messages(chosen),
            tools=self._tools(chosen),
            settings=settings,
            proposed=self._new.request.proposed & settings.keys(),
        )
        return Version(self._model(chosen), request, tuple(choice(chosen) for choice in self._turns))


def _model_choice(edits: EditList, old: str, new: str) -> Choice[str]:
    return whole_choice(edits, Edit("model", old, new, "model"), old, new) if old != new else lambda _: new


def _turn_choice(edits: EditList, old: LaterTurn, new: LaterTurn, where: str) -> Choice[LaterTurn]:
    messages = message_choice(edits, old.messages, new.messages, where)
    if old.tools is not None and new.tools is not None:
        tools: Choice[Tools | None] = tool_choice(edits, old.tools, new.tools, where)
    elif old.tools is None and new.tools is None:
        tools = lambda _: None  # noqa: E731
    else:
        before, after = (", ".join(tool.name for tool in each.tools or ()) for each in (old, new))
        tools = whole_choice(edits, Edit(f"{where}tools", before, after, "tool"), old.tools, new.tools)
    return lambda chosen: LaterTurn(messages(chosen), tools(chosen))


def _settings_choice(edits: EditList, old: Settings, new: Settings) -> Choice[Settings]:
    first = len(edits)
    places = {
        name: edits.add(Edit(f"settings: {name}", _shown(old, name), _shown(new, name), "setting"))
        for name in sorted({*old, *new})
        if name not in old or name not in new or not same_json(old[name], new[name])
    }

    def mixed(chosen: Chosen) -> Settings:
        sides = {name: new if places.get(name, -1) in chosen else old for name in {*old, *new}}
        return {name: side[name] for name, side in sides.items() if name in side}

    return between(old, new, range(first, len(edits)), mixed) if places else lambda _: new


def _shown(settings: Settings, name: str) -> str:
    """The value of a setting; a key is left out."""
    if name not in settings:
        return ""
    public = without_secrets({name: settings[name]})
    return canonical(public[name]) if name in public else "(left out)"
