"""What a team writes on its first day, and all that its case file names."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from pytest_fcall.core import Json, Tool
from pytest_fcall.schema.sources.lock_file import LockEntry, lock_path, write_lock

_TOOLS: Mapping[str, Mapping[str, str]] = {
    "get_order": {"order_id!": "string"},
    "create_event": {"start!": "string", "minutes": "integer"},
    "search_kb": {"query!": "string"},
    "list_invoices": {"customer!": "string", "country": "string", "status": "string", "page": "integer"},
    "book": {"flight!": "string", "cabin": "string"},
    "find_orders": {"customer!": "string"},
    "refund": {"order_id!": "string"},
    "cancel_order": {"order_id!": "string"},
    "charge": {"invoice!": "integer", "idempotency_key!": "string"},
    "list_projects": {},
    "get_project": {"id!": "string"},
    "get_weather": {"city!": "string"},
    "create_expense": {"amount!": "number", "currency": "string"},
    "transfer": {"amount!": "number"},
}
"""Parameters by tool; those with an exclamation mark are required."""


def _tool(name: str, parameters: Mapping[str, str]) -> Json:
    properties: Json = {key.rstrip("!"): {"type": kind} for key, kind in parameters.items()}
    required = [key[:-1] for key in parameters if key.endswith("!")]
    return {"name": name, "parameters": {"type": "object", "properties": properties, "required": required}}


def write_day_one(folder: Path) -> Path:
    """Write it all into a folder; the path of the case file."""
    path = folder / "day_one.fc.yaml"
    shutil.copy(Path(__file__).with_name("day_one.yaml"), path)
    catalogue = {"tools": [_tool(*item) for item in _TOOLS.items()]}
    (folder / "catalogue.tools.yaml").write_text(json.dumps(catalogue), encoding="utf-8")
    (folder / "threads").mkdir()
    thread = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hello."}] * 40
    (folder / "threads" / "expenses.json").write_text(json.dumps(thread), encoding="utf-8")
    (folder / "receipts").mkdir()
    (folder / "receipts" / "r1.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    query: Json = {"type": "object", "properties": {"query": {"type": "string"}}}
    assert isinstance(query, dict)
    write_lock(
        lock_path(path),
        [
            LockEntry({"mcp": {"url": "http://127.0.0.1:7001/mcp"}}, (Tool("search", "", query), Tool("get_page"))),
            LockEntry(
                {"mcp": {"command": ["confluence-mcp"]}}, (Tool("search", "", query), Tool("drop"), Tool("get_page"))
            ),
        ],
    )
    return path
