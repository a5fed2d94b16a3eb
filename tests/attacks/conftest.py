from __future__ import annotations

from tests.integration.conftest import asyncio_plugin, exam, mind, shop, weather

__all__ = ["asyncio_plugin", "exam", "mind", "shop", "weather"]
