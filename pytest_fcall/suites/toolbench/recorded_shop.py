"""A shop that shows what another one has shown: the environment of web_shop by recorded outcomes."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fcall.core.values import Json
from pytest_fcall.suites.toolbench.outcomes import visit_key


class UnrecordedAction(LookupError):
    """The outcome of an action is not recorded."""


class RecordedShop:
    """One visit. What is not recorded ends it: nobody knows what the shop would have shown."""

    def __init__(self, visits: Mapping[str, Mapping[str, Json]], **_: Json) -> None:
        self._visits = visits
        self._actions: list[str] = []
        self.done: Json = False
        self.reward: Json = 0

    def look(self) -> Json:
        """Show the page."""
        return self._page()

    def search(self, words: str) -> Json:
        """Search the shop."""
        return self._act(f"search[{words}]")

    def click(self, on: str) -> Json:
        """Click on what is named."""
        return self._act(f"click[{on}]")

    def _act(self, action: str) -> Json:
        if self.done is not False:
            raise UnrecordedAction("the visit has come to its end")
        self._actions.append(action)
        return self._page()

    def _page(self) -> Json:
        shown = self._visits.get(visit_key(self._actions))
        if shown is None:
            self.done = f"no outcome is recorded for {', '.join(self._actions) or 'the first page'}"
            raise UnrecordedAction(self.done)
        self.done = shown.get("done") is True
        self.reward = shown.get("reward", 0)
        return shown.get("page")
