"""What calls came to in earlier conversations, where they always come to the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_fcall.conversation.environments.kept import Kept, Story
from pytest_fcall.core import Executed, Json


@dataclass(frozen=True, slots=True)
class Recall:
    """Finds and keeps results by what is called, in whatever conversation.

    `named` tells tools of one kind from others. What JSON cannot say is a ValueError or RecursionError.
    """

    named: Mapping[str, Json]
    kept: Kept

    def find(self, tool: str, arguments: Mapping[str, Json]) -> Executed | None:
        """What the call came to; None where that is not known."""
        return self.kept.find(self._key(tool, arguments))

    def keep(self, tool: str, arguments: Mapping[str, Json], result: Executed) -> None:
        """Keep what it came to."""
        self.kept.keep(self._key(tool, arguments), self._call(tool, arguments), result)

    def _key(self, tool: str, arguments: Mapping[str, Json]) -> str:
        return Story("").key(self._call(tool, arguments), changes=False)

    def _call(self, tool: str, arguments: Mapping[str, Json]) -> dict[str, Json]:
        return {**self.named, "tool": tool, "arguments": arguments}
