"""A process that keeps replies: `python -m tests.unit.backends.store.writer PLACE FIRST LAST [LIMIT]`.

It says each number once the reply is kept, and what went wrong where it is not. LIMIT is the largest file that it
may write, in bytes.
"""

from __future__ import annotations

import sys

from pytest_fcall.backends.store import ReplyStore, StoreError
from tests.unit.backends.store.entries import FILE, MODEL, entry, place_of


def main(place: str, first: str, last: str, limit: str = "") -> None:
    if limit:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), resource.RLIM_INFINITY))
    store = ReplyStore(place_of(place))
    for number in range(int(first), int(last)):
        try:
            store.put(MODEL, FILE, entry(number, text="x" * 500))
        except StoreError as error:
            sys.stdout.write(f"{error}\n")
            break
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()
    store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
