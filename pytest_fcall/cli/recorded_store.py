"""`fcall record --prune` and `--stats`: the store itself."""

from __future__ import annotations

from datetime import UTC, datetime

from pytest_fcall.backends.store import ReplyStore, store_path
from pytest_fcall.cli.recorded import Records
from pytest_fcall.reporting import safe_line


def prune(store: ReplyStore, records: Records, before: float | None) -> None:
    """Forget what is not used any more, and what files that are gone have asked."""
    forgotten = store.prune(lambda file: (records.root / file).exists(), before)
    kept = sum(stats.replies for stats in store.stats())
    print(f"forgotten: {forgotten}, kept: {kept}")


def show(store: ReplyStore, records: Records) -> None:
    """Show what is kept, one line a model."""
    path = store_path(records.root)
    found = store.stats()
    if not found:
        print(f"no replies are recorded in {safe_line(records.from_root(path))}")
        return
    print("replies  files  oldest      newest      model")
    for stats in found:
        dates = f"{_day(stats.oldest)}  {_day(stats.newest)}"
        print(f"{stats.replies:7}  {stats.files:5}  {dates}  {safe_line(stats.model)}")
    print(f"{path.stat().st_size / 1e6:.1f} MB in {safe_line(records.from_root(path))}")


def _day(moment: float) -> str:
    try:
        return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d}" if moment > 0 else "unknown   "
    except (ValueError, OverflowError, OSError):  # a moment that no calendar of this system has
        return "unknown   "
