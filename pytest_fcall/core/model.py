"""Which model sits the exam."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Model:
    """`KIND:NAME?key=value&…`, taken apart."""

    kind: str
    name: str
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Not shown where a model is: there may be a key in an address."""

    @classmethod
    def by_id(cls, text: str) -> Model:
        """The model of an id, without options."""
        kind, _, name = text.partition(":")
        return cls(kind, name)

    @property
    def id(self) -> str:
        """`KIND:NAME`: the model's name in node ids, recordings and baselines. Options are no part of it."""
        return f"{self.kind}:{self.name}"

    @property
    def folder(self) -> str:
        """The id as a folder name that every file system takes; a short digest keeps unusual names apart."""
        plain = re.sub(r"[^a-z0-9._-]", "-", self.name.lower()).strip(".") or "-"
        if plain == self.name:
            return f"{self.kind}-{plain}"
        return f"{self.kind}-{plain[:80]}-{hashlib.sha256(self.name.encode()).hexdigest()[:6]}"
