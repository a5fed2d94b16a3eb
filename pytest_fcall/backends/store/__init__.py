"""Replies kept in a database, as they come: what was paid for once is not asked again."""

from pytest_fcall.backends.store.database import StoreError
from pytest_fcall.backends.store.replies import Kept, ModelStats, New, ReplyStore, store_path

__all__ = ["Kept", "ModelStats", "New", "ReplyStore", "StoreError", "store_path"]
