"""The three hubs, and what sets them apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

Checked: TypeAlias = Literal["named", "model", "all"]
"""What the original compares of a call.

* `named`: the arguments in whose text `repo_or_dir` or `model` occurs.
* `model`: the value of `model`, and the text of all others.
* `all`: the values of all arguments.
"""


@dataclass(frozen=True, slots=True)
class Hub:
    """One of the hubs."""

    name: str
    program: str
    """What its questions call it."""
    checked: Checked
    whole_answer: bool
    """Whether the original judges all of an answer that has no field `api_call`."""
    evaluation: str
    """The stem of the file with the right answers."""

    @property
    def apis(self) -> str:
        """The stem of the file with its API data base."""
        return f"{self.name}_api"


HUBS: Mapping[str, Hub] = MappingProxyType(
    {
        hub.name: hub
        for hub in (
            Hub("torchhub", "TorchHub", "named", False, "torchhub_eval"),
            Hub("tensorflowhub", "TensorFlow Hub", "model", True, "tensorflow_eval"),
            Hub("huggingface", "Hugging Face", "all", True, "huggingface_eval"),
        )
    }
)
