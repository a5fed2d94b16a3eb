"""What the store reads of a database: selections of rows, which each kind of database has its own SQL for."""

from __future__ import annotations

from collections.abc import Sequence
from types import UnionType
from typing import NamedTuple


class Selection(NamedTuple):
    """Rows of these types, column by column: in a damaged file any value may be anywhere."""

    name: str
    types: Sequence[type | UnionType]

    def is_whole(self, row: Sequence[object]) -> bool:
        """Whether the row is one as we write them."""
        return all(map(isinstance, row, self.types))


_REPLY = (str, str, str, int, float | int, str, bytes, int)
LOAD = Selection("load", _REPLY)
"""Of a list of digests."""
FIND = Selection("find", _REPLY)
"""Of a digest, recorded since."""
NEAREST = Selection("nearest", _REPLY)
"""Of a model, file and case, nearest to a sample."""
FILES = Selection("files", (str, str))
"""Models and files, sorted; of a model or None, of a file or None."""
REPLIES_OF_FILE = Selection("replies of a file", (str, str, *_REPLY))
"""Case and digest, and the reply, sorted; of a model and file, after a case and digest, some at a time."""
LAST_USES = Selection("last uses", (str, str))
"""Cases and digests, of a model and file."""
STATS = Selection("stats", (str, int, int, float | int, float | int))
