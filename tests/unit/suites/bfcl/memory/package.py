"""Memories, and conversations about tea, for a package of the official one's form."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_fcall.core import Json
from tests.unit.suites.bfcl.multi_turn.package import function, write_package

CONSTANTS = """
for kind in ("kv", "vector", "rec_sum"):
    CLASS_FILE_PATH_MAPPING[f"MemoryAPI_{kind}"] = "bfcl_eval.notes"
"""
PROMPTS = '''
MEMORY_AGENT_SETTINGS = {"customer": "Serve a customer.", "student": "Help a student."}
MEMORY_BACKEND_INSTRUCTION_CORE_ARCHIVAL = """{scenario_setting} Core: {memory_content}"""
MEMORY_BACKEND_INSTRUCTION_UNIFIED = """{scenario_setting} All: {memory_content}"""
'''
NOTES = """
import json
import os
from pathlib import Path

assert "BFCL_PROJECT_ROOT" in os.environ


class MemoryAPI_kv:
    def __init__(self):
        self.notes = {}

    def _load_scenario(self, config, long_context=False):
        folder = config["model_result_dir"] / "notes"
        folder.mkdir(exist_ok=True)
        self.latest_snapshot_file = folder / f"{config['scenario']}_final.json"
        if not config["test_id"].endswith("-0"):
            self.notes = json.loads(self.latest_snapshot_file.read_text())

    def _flush_memory_to_local_file(self):
        self.latest_snapshot_file.write_text(json.dumps(self.notes))

    def _dump_core_memory_to_context(self):
        return json.dumps(self.notes) if self.notes else "nothing"

    def add(self, key, value):
        if key in self.notes:
            return {"error": "there is one"}
        self.notes[key] = value
        return {"status": "added"}

    def read(self, key):
        return {"value": self.notes[key]}

    def leave(self):
        os._exit(3)


class MemoryAPI_rec_sum(MemoryAPI_kv):
    pass
"""
ADD = function("add", key={"type": "string"}, value={"type": "string"})
TOOLS = [ADD, function("read", key={"type": "string"}), function("leave")]


def said(*turns: str) -> list[Json]:
    """The turns of a question."""
    return [[{"role": "user", "content": text}] for text in turns]


def question_row(**fields: Json) -> dict[str, Json]:
    """A question, with what is right."""
    row: dict[str, Json] = {
        "id": "memory_0-customer-0",
        "question": said("Which tea do I like?"),
        "involved_classes": ["MemoryAPI"],
        "scenario": "customer",
        "ground_truth": ["green"],
    }
    return {**row, **fields}


BEFORE: Sequence[Mapping[str, Json]] = (
    {"id": "memory_prereq_0-customer-0", "question": said("I like green tea.", "Really.")},
    {"id": "memory_prereq_1-customer-1", "question": said("And I like milk.")},
)


def write_memories(
    folder: Path,
    rows: Mapping[str, list[dict[str, Json]]],
    before: Sequence[Mapping[str, Json]] = BEFORE,
) -> Path:
    """Write the package with memories, and with what is said to customers before; give the folder of its data."""
    data = write_package(folder, rows)
    package = data.parent
    for name, text in {"executable_backend_config": CONSTANTS, "default_prompts": PROMPTS}.items():
        with (package / "constants" / f"{name}.py").open("a", encoding="utf-8") as file:
            file.write(text)
    (package / "notes.py").write_text(NOTES, encoding="utf-8")
    for name in ("overrides", "filelock", "rank_bm25"):  # what is said to be needed, and is not, here
        (folder / f"{name}.py").write_text("", encoding="utf-8")
    documents = data / "multi_turn_func_doc"
    for kind in ("kv", "vector", "rec_sum"):
        (documents / f"memory_{kind}.json").write_text("".join(f"{json.dumps(each)}\n" for each in TOOLS))
    conversations = data / "memory_prereq_conversation"
    conversations.mkdir()
    (conversations / "memory_customer.json").write_text("".join(f"{json.dumps(each)}\n" for each in before))
    return data
