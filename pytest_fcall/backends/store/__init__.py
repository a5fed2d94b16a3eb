"""The store: replies in a database, written as they arrive, so that no request is paid for twice."""

from pytest_fcall.backends.store.database import CaseOfFile, StoreError
from pytest_fcall.backends.store.replies import ModelStats, NewReply, ReplyStore, StoredReply, store_path
from pytest_fcall.backends.store.rows import is_rescued

__all__ = [
    "CaseOfFile",
    "ModelStats",
    "NewReply",
    "ReplyStore",
    "StoreError",
    "StoredReply",
    "is_rescued",
    "store_path",
]
