"""What stands before and behind vLLM where `ray.data.llm` runs it: requests become tokens, and tokens replies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from pytest_fcall.backends.cluster.answerer import Assignment, PartRow, prepare_node, read_portion, write_part
from pytest_fcall.backends.cluster.coordinator import CoordinatorClient
from pytest_fcall.backends.local.vllm_rows import VllmRows
from pytest_fcall.backends.recordings.entry import reply_to_data
from pytest_fcall.core import CaseRefused
from pytest_fcall.core.secrets import Secrets
from pytest_fcall.core.storage import Folder

_COLUMNS: Final = ("digest", "prompt", "tokenized_prompt", "sampling", "has_tools", "max_tokens")
_ERROR: Final = "__inference_error__"
"""The column in which Ray says why the engine has not answered a row."""


class _Step:
    """One step of the way, in a process of its own."""

    def __init__(self, assignment: Any, coordinator: Any, rows: VllmRows) -> None:
        import ray

        told: Assignment = ray.get(assignment[0])
        prepare_node(told)
        self._assignment = told
        self._folder = Folder(told.checkpoint)
        self._coordinator = CoordinatorClient(coordinator)
        self._secrets = Secrets(told.secrets)
        self._rows = rows

    def _write(self, rows: list[PartRow]) -> None:
        if rows:
            self._coordinator.add_part(write_part(self._folder, rows), [row.digest for row in rows])


class RequestsToTokens(_Step):
    """Reads portions of a plan, and writes the prompts. What the model cannot be given is an error at once."""

    def __call__(self, portions: Any) -> Any:
        """Give the rows for the engine."""
        import pyarrow as pa

        found: list[dict[str, Any]] = []
        refused: list[PartRow] = []
        for portion in portions.to_pylist():
            rows = {row["digest"]: row for row in read_portion(self._folder, portion)}
            for digest in self._coordinator.deaths(rows):
                try:
                    row = self._rows.row(self._assignment.request(rows[digest]))
                except CaseRefused as error:
                    refused.append(PartRow(digest, error=self._secrets.redacted(str(error))))
                else:
                    # As text, since the fields of structs differ from row to row.
                    row["sampling"] = json.dumps(row.pop("sampling_params"))
                    found.append({"digest": digest, **row})
        self._write(refused)
        types = [pa.string(), pa.string(), pa.list_(pa.int64()), pa.string(), pa.bool_(), pa.int64()]
        return pa.Table.from_pylist(found, pa.schema([*zip(_COLUMNS, types, strict=True)]))


class TokensToReplies(_Step):
    """Writes what the engine gave as parts."""

    def __call__(self, answers: Any) -> Any:
        """Write the rows; gives back their number."""
        import pyarrow as pa

        self._write([self._part_row(row) for row in answers.to_pylist()])
        return pa.table({"rows": [answers.num_rows]})

    def _part_row(self, row: Mapping[str, Any]) -> PartRow:
        if error := row.get(_ERROR):
            return PartRow(row["digest"], error=self._secrets.redacted(" ".join(str(error).split())[:1000]))
        return PartRow.of_reply(row["digest"], self._secrets.redacted_fields(reply_to_data(self._rows.reply(row))))


def to_engine(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row as the engine takes it; other columns are carried along."""
    return {**row, "sampling_params": json.loads(row["sampling"])}


def from_engine(row: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that a reply is made of."""
    names = ("digest", "has_tools", "max_tokens", "generated_tokens", "num_input_tokens")
    return {name: row[name] for name in names}
