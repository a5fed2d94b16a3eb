"""The APIs by which OpenAI, Anthropic and Gemini take batches, as strict as they are.

Each is a responder of a Server. A batch moves one stage with each look at it, and ends at once unless a test says more.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email import message_from_bytes
from itertools import count
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.servers.answer import Answer, Asked
from tests.servers.server import echo

KEY = "sk-batches-0123456789"
Answerer = Callable[[Mapping[str, Any]], tuple[int, Any]]


@dataclass
class Batch:
    """A batch at the server."""

    id: str
    requests: Sequence[tuple[str, Mapping[str, Any]]]
    """Ids and bodies."""
    created: float
    name: str = ""
    file: str = ""
    stages: list[str] = field(default_factory=list)
    """What it is next; at its end it is what `end` says."""
    end: str = "completed"
    cancelled: bool = False


def data(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    return Answer(json.dumps(value).encode(), status, headers=headers or {})


class BatchApi(ABC):
    """`answer` answers each request; the first `answered` of each batch have an answer, all by default."""

    def __init__(self, answer: Answerer | None = None) -> None:
        self.answer = answer or self.echo
        self.batches: dict[str, Batch] = {}
        self.files: dict[str, tuple[str, bytes]] = {}
        """Names and contents."""
        self.stages: Sequence[str] = ()
        """The stages of the next batches."""
        self.end = "completed"
        """How they end."""
        self.answered: int | None = None
        self.gone = False
        """Whether results are kept no more."""
        self.order: Callable[[Sequence[Any]], Sequence[Any]] = lambda rows: rows[::-1]
        """The order of the answers: the last one first, unless a test says another."""
        self.more_rows: Sequence[Any] = ()
        """Further lines of the results."""
        self.instead: list[tuple[str, Answer, bool]] = []
        """Answers to the first requests whose method and path contain a text; with True it has done its part before."""
        self.now = datetime(2026, 11, 23, 12, tzinfo=UTC).timestamp()
        self._numbers = count(1)

    def __call__(self, asked: Asked) -> Answer:
        url = urlsplit(asked.path)
        if not self.bears_key(asked):
            return self.refusal(401, "Incorrect API key provided")
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        for number, (text, answer, is_done) in enumerate(self.instead):
            if text in f"{asked.method} {url.path}":
                del self.instead[number]
                if is_done:
                    self.respond(asked, url.path, query)
                return answer
        return self.respond(asked, url.path, query)

    @abstractmethod
    def echo(self, body: Mapping[str, Any]) -> tuple[int, Any]:
        """What the model says."""

    @abstractmethod
    def bears_key(self, asked: Asked) -> bool: ...

    @abstractmethod
    def refusal(self, status: int, message: str) -> Answer: ...

    @abstractmethod
    def respond(self, asked: Asked, path: str, query: Mapping[str, str]) -> Answer: ...

    @property
    def submitted(self) -> list[str]:
        """The ids of all requests of all batches."""
        return [name for batch in self.batches.values() for name, _ in batch.requests]

    def new_id(self, prefix: str) -> str:
        return f"{prefix}{next(self._numbers):04d}"

    def add(self, batch: Batch) -> Batch:
        batch.stages, batch.end = [*self.stages], self.end
        self.batches[batch.id] = batch
        return batch

    def look(self, batch: Batch) -> str:
        """The stage of a batch, which moves on."""
        if batch.cancelled:
            return "cancelled"
        return batch.stages.pop(0) if batch.stages else batch.end

    def lines(self, batch: Batch) -> list[tuple[str, int, Any]]:
        """The answers."""
        wanted = batch.requests if self.answered is None else batch.requests[: self.answered]
        return [(name, *self.answer(body)) for name, body in self.order(wanted)]

    def unanswered(self, batch: Batch) -> list[str]:
        return [name for name, _ in ([] if self.answered is None else batch.requests[self.answered :])]


def _jsonl(rows: Sequence[Any]) -> bytes:
    return "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows).encode()


class OpenAIBatchApi(BatchApi):
    """`/v1/files` and `/v1/batches`."""

    endpoints = ("/v1/chat/completions", "/v1/responses", "/v1/embeddings", "/v1/completions")

    def bears_key(self, asked: Asked) -> bool:
        return asked.headers.get("authorization") == f"Bearer {KEY}"

    def echo(self, body: Mapping[str, Any]) -> tuple[int, Any]:
        path = "/v1/chat/completions" if "messages" in body else "/v1/responses"
        answer = echo(Asked("POST", path, {}, json.dumps(body).encode(), 0, 0.0))
        return answer.status, json.loads(answer.body)

    def refusal(self, status: int, message: str) -> Answer:
        return data(
            {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}}, status
        )

    def respond(self, asked: Asked, path: str, query: Mapping[str, str]) -> Answer:
        match asked.method, path.removeprefix("/v1/").split("/"):
            case "POST", ["files"]:
                return self._upload(asked)
            case "GET", ["files"]:
                return self._page([self._file(name) for name in self.files if name.startswith("file-in")], query)
            case "GET", ["files", name, "content"] if name in self.files and not (self.gone and "-out" in name):
                return Answer(self.files[name][1], content_type="application/octet-stream")
            case "POST", ["batches"]:
                return self._create(asked.json)
            case "GET", ["batches"]:
                return self._page([self._shown(each, "in_progress") for each in self.batches.values()], query)
            case "GET", ["batches", name] if name in self.batches:
                batch = self.batches[name]
                return data(self._shown(batch, self.look(batch)))
            case "POST", ["batches", name, "cancel"] if name in self.batches:
                self.batches[name].cancelled = True
                return data(self._shown(self.batches[name], "cancelling"))
        return self.refusal(404, f"Invalid URL ({asked.method} {path})")

    def _upload(self, asked: Asked) -> Answer:
        parts = message_from_bytes(f"Content-Type: {asked.headers['content-type']}\r\n\r\n".encode() + asked.body)
        form = {part.get_param("name", header="content-disposition"): part for part in parts.walk()}
        if "file" not in form or form["purpose"].get_payload() != "batch":
            return self.refusal(400, "'purpose' is a required property, and 'file', too")
        name = str(form["file"].get_filename())
        if not name.endswith(".jsonl"):
            return self.refusal(400, f"Invalid file format for Batch API. Must be .jsonl: {name}")
        content = form["file"].get_payload(decode=True)
        assert isinstance(content, bytes)
        number = self.new_id("file-in-")
        self.files[number] = (name, content)
        return data(self._file(number))

    def _create(self, asked: Mapping[str, Any]) -> Answer:
        if asked.get("completion_window") != "24h" or asked.get("endpoint") not in self.endpoints:
            return self.refusal(400, "Invalid value for completion_window or endpoint")
        if asked.get("input_file_id") not in self.files:
            return self.refusal(400, f"No such File object: {asked.get('input_file_id')}")
        named = asked.get("metadata") or {}
        if len(named) > 16 or any(len(key) > 64 or len(value) > 512 for key, value in named.items()):
            return self.refusal(400, "Invalid metadata")
        name = self.new_id("batch_")
        content = self.files[asked["input_file_id"]][1].decode()
        rows = [json.loads(line) for line in content.splitlines()]
        requests = [(row["custom_id"], row["body"]) for row in rows]
        batch = self.add(Batch(name, requests, self.now, json.dumps(named), asked["input_file_id"]))
        self.faults = list(_faults_of(rows, asked["endpoint"]))
        if self.faults:
            batch.end = "failed"
        return data(self._shown(batch, "validating"))

    faults: Sequence[tuple[int, str, str]] = ()

    def _file(self, number: str) -> Any:
        name, content = self.files[number]
        about = {"object": "file", "purpose": "batch", "created_at": int(self.now), "status": "processed"}
        return {"id": number, "bytes": len(content), "filename": name, **about}

    def _shown(self, batch: Batch, status: str) -> Any:
        shown: dict[str, Any] = {
            "id": batch.id,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "input_file_id": batch.file,
            "completion_window": "24h",
            "status": status,
            "created_at": int(batch.created),
            "metadata": json.loads(batch.name),
            "output_file_id": None,
            "error_file_id": None,
            "errors": None,
        }
        if status == "failed":
            listed = [{"code": code, "line": line, "message": text, "param": None} for line, code, text in self.faults]
            return shown | {"errors": {"object": "list", "data": listed}}
        if status == "finalizing":
            shown["request_counts"] = {"total": len(batch.requests), "completed": len(batch.requests), "failed": 0}
        if status in ("completed", "expired", "cancelled"):
            shown |= self._written(batch, status)
        return shown

    def _written(self, batch: Batch, status: str) -> Mapping[str, Any]:
        """The files of answers and of errors."""
        answers = self.lines(batch)
        rows = [
            {
                "id": "r",
                "custom_id": name,
                "response": {"status_code": code, "request_id": "q", "body": body},
                "error": None,
            }
            for name, code, body in answers
        ]
        good: list[Any] = [row for row, (_, code, _) in zip(rows, answers, strict=True) if code == 200]
        bad: list[Any] = [row for row, (_, code, _) in zip(rows, answers, strict=True) if code != 200]
        word = {"expired": "batch_expired", "cancelled": "batch_cancelled"}.get(status, "")
        if word:
            error = {"code": word, "message": "This request could not be executed before the completion window."}
            bad += [{"custom_id": name, "response": None, "error": error} for name in self.unanswered(batch)]
        written: dict[str, Any] = {
            "request_counts": {"total": len(batch.requests), "completed": len(good), "failed": len(bad)}
        }
        for key, contents in (("output", [*good, *self.more_rows]), ("error", bad)):
            if contents:
                number = f"file-out-{batch.id}-{key}"
                self.files[number] = (f"{batch.id}_{key}.jsonl", _jsonl(contents))
                written[f"{key}_file_id"] = number
        return written

    def _page(self, items: Sequence[Any], query: Mapping[str, str]) -> Answer:
        newest = [*reversed(items)]
        ids = [each["id"] for each in newest]
        start = ids.index(query["after"]) + 1 if "after" in query else 0
        end = start + int(query.get("limit", "20"))
        return data({"object": "list", "data": newest[start:end], "has_more": end < len(newest)})


class AzureBatchApi(OpenAIBatchApi):
    """OpenAI's batches at a resource of Azure, of which a line names a deployment as its model.

    `/openai/v1` takes the key in either header. Without `v1` it has to be `api-key`, and `api-version` in the query.
    """

    deployment = "our-deployment"

    def bears_key(self, asked: Asked) -> bool:
        is_newest = asked.path.startswith("/openai/v1/")
        return asked.headers.get("api-key") == KEY or (is_newest and super().bears_key(asked))

    def respond(self, asked: Asked, path: str, query: Mapping[str, str]) -> Answer:
        below, found = re.subn("^/openai/(v1/)?(?=(files|batches)(/|$))", "/v1/", path)
        if not found or not (
            path.startswith("/openai/v1/") or re.match(r"20\d\d-\d\d-\d\d", query.get("api-version", ""))
        ):
            return data({"error": {"code": "404", "message": "Resource not found"}}, 404)
        return super().respond(asked, below, query)

    def _create(self, asked: Mapping[str, Any]) -> Answer:
        lines = self.files[asked["input_file_id"]][1].splitlines()
        if any(json.loads(line)["body"]["model"] != self.deployment for line in lines):
            return self.refusal(400, "The model of each line must be a deployment of this resource")
        return super()._create(asked)

    def _shown(self, batch: Batch, status: str) -> Any:
        return {**super()._shown(batch, status), "status": "Validating" if status == "validating" else status}


def _faults_of(rows: Sequence[Mapping[str, Any]], endpoint: str) -> Any:
    """What OpenAI finds in a file while it validates it."""
    seen: set[str] = set()
    for line, row in enumerate(rows, start=1):
        if not re.fullmatch(r"[\w-]{1,64}", row["custom_id"]) or row["custom_id"] in seen:
            yield line, "duplicate_custom_id", f"The custom_id on line {line} is a duplicate, or invalid."
        if row["method"] != "POST" or row["url"] != endpoint:
            yield line, "mismatched_url", f"The URL on line {line} does not match the batch endpoint {endpoint}."
        if row["body"]["model"] != rows[0]["body"]["model"]:
            yield line, "mismatched_model", "All requests of a batch must be to one model."
        if row["body"].get("stream") or "bad line" in json.dumps(row["body"]):
            yield line, "invalid_json_line", "This line is not parseable as valid JSON."
        seen.add(row["custom_id"])


class AnthropicBatchApi(BatchApi):
    """`/v1/messages/batches`."""

    def bears_key(self, asked: Asked) -> bool:
        return asked.headers.get("x-api-key") == KEY and asked.headers.get("anthropic-version") == "2023-06-01"

    def echo(self, body: Mapping[str, Any]) -> tuple[int, Any]:
        said = body["messages"][-1]["content"]
        text = said if isinstance(said, str) else said[-1].get("text", "")
        try:
            blocks: list[Any] = [
                {"type": "tool_use", "id": f"toolu_{number}", "name": call["name"], "input": call["arguments"]}
                for number, call in enumerate(json.loads(text))
            ]
        except ValueError:
            blocks = [{"type": "text", "text": f"You said: {text}"}]
        reason = "tool_use" if blocks[0]["type"] == "tool_use" else "end_turn"
        usage = {"input_tokens": 20, "output_tokens": 10}
        about = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "stop_sequence": None}
        return 200, {**about, "content": blocks, "stop_reason": reason, "usage": usage}

    def refusal(self, status: int, message: str) -> Answer:
        kinds = {401: "authentication_error", 404: "not_found_error", 413: "request_too_large"}
        error = {"type": kinds.get(status, "invalid_request_error"), "message": message}
        return data({"type": "error", "error": error, "request_id": "req_1"}, status)

    def respond(self, asked: Asked, path: str, query: Mapping[str, str]) -> Answer:
        match asked.method, path.removeprefix("/v1/messages/batches").split("/")[1:]:
            case "POST", []:
                return self._create(asked.json)
            case "GET", []:
                return self._page(query)
            case "GET", [name] if name in self.batches:
                batch = self.batches[name]
                return data(self._shown(batch, self.look(batch)))
            case "GET", [name, "results"] if name in self.batches and not self.gone:
                return Answer(_jsonl(self._results(self.batches[name])), content_type="application/x-jsonl")
            case "POST", [name, "cancel"] if name in self.batches:
                self.batches[name].cancelled = True
                return data(self._shown(self.batches[name], "canceling"))
        return self.refusal(404, f"Not found: {path}")

    def _create(self, asked: Mapping[str, Any]) -> Answer:
        if asked.keys() != {"requests"} or not 1 <= len(asked["requests"]) <= 100_000:
            return self.refusal(400, "requests: List should have 1 to 100000 items")
        names = [each["custom_id"] for each in asked["requests"]]
        for number, each in enumerate(asked["requests"]):
            if each.keys() != {"custom_id", "params"} or not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", each["custom_id"]):
                return self.refusal(400, f"requests.{number}.custom_id: String should have at most 64 characters")
            if not {"model", "max_tokens", "messages"} <= each["params"].keys() or each["params"].get("stream"):
                return self.refusal(400, f"requests.{number}.params: Field required")
        if len({*names}) < len(names):
            return self.refusal(400, "requests: custom_ids must be unique")
        requests = [(each["custom_id"], each["params"]) for each in asked["requests"]]
        return data(self._shown(self.add(Batch(self.new_id("msgbatch_"), requests, self.now)), "in_progress"))

    def _shown(self, batch: Batch, status: str) -> Any:
        has_ended = status in ("completed", "cancelled", "expired")
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        if has_ended:
            for row in self._results(batch, status):
                counts[row["result"]["type"]] += 1
        else:
            counts["processing"] = len(batch.requests)
        about = {"type": "message_batch", "expires_at": "2026-11-24T12:00:00Z", "ended_at": None}
        created = datetime.fromtimestamp(batch.created, UTC).isoformat().replace("+00:00", "Z")
        return {
            "id": batch.id,
            "processing_status": "ended" if has_ended else status,
            "request_counts": counts,
            "created_at": created,
            "cancel_initiated_at": created if batch.cancelled else None,
            "archived_at": created if self.gone else None,
            "results_url": f"https://api.anthropic.com/v1/messages/batches/{batch.id}/results" if has_ended else None,
            **about,
        }

    def _results(self, batch: Batch, status: str = "") -> list[Any]:
        rows = [
            {"custom_id": name, "result": {"type": "succeeded", "message": body}}
            if code == 200
            else {"custom_id": name, "result": {"type": "errored", "error": body}}
            for name, code, body in self.lines(batch)
        ]
        word = "canceled" if batch.cancelled else "expired"
        return [
            *rows,
            *({"custom_id": name, "result": {"type": word}} for name in self.unanswered(batch)),
            *([] if status else self.more_rows),
        ]

    def _page(self, query: Mapping[str, str]) -> Answer:
        newest = [self._shown(each, "in_progress") for each in reversed(self.batches.values())]
        ids = [each["id"] for each in newest]
        start = ids.index(query["after_id"]) + 1 if "after_id" in query else 0
        page = newest[start : start + int(query.get("limit", "20"))]
        has_more = start + len(page) < len(newest)
        return data({"data": page, "has_more": has_more, "first_id": ids and ids[0], "last_id": ids and ids[-1]})


class GeminiBatchApi(BatchApi):
    """Files, `:batchGenerateContent` and `batches`, of any version."""

    def __init__(self, answer: Answerer | None = None) -> None:
        super().__init__(answer)
        self._begun: dict[str, str] = {}

    def bears_key(self, asked: Asked) -> bool:
        return asked.headers.get("x-goog-api-key") == KEY

    def echo(self, body: Mapping[str, Any]) -> tuple[int, Any]:
        text = body["contents"][-1]["parts"][-1].get("text", "")
        try:
            parts: list[Any] = [
                {"functionCall": {"name": call["name"], "args": call["arguments"]}} for call in json.loads(text)
            ]
        except ValueError:
            parts = [{"text": f"You said: {text}"}]
        usage = {"promptTokenCount": 20, "candidatesTokenCount": 10, "totalTokenCount": 30}
        candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
        return 200, {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "exam-1"}

    def refusal(self, status: int, message: str) -> Answer:
        words = {401: "UNAUTHENTICATED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED"}
        error = {"code": status, "message": message, "status": words.get(status, "INVALID_ARGUMENT")}
        return data({"error": error}, status)

    def respond(self, asked: Asked, path: str, query: Mapping[str, str]) -> Answer:
        match asked.method, path.split("/")[1:]:
            case "POST", ["upload", _, "files"]:
                return self._upload(asked, query)
            case "GET", [_, "files"]:
                return self._page("files", [self._file(name) for name in self.files if "out" not in name], query)
            case "GET", ["download", _, "files", name] if (number := f"files/{name}".partition(":")[0]) in self.files:
                if query.get("alt") == "media" and not self.gone:
                    return Answer(self.files[number][1], content_type="application/octet-stream")
            case "POST", [_, "models", model] if model.endswith(":batchGenerateContent"):
                return self._create(asked.json, model.removesuffix(":batchGenerateContent"))
            case "GET", [_, "batches"]:
                listed = [self._shown(each, "RUNNING") for each in self.batches.values()]
                return self._page("operations", listed, query)
            case "GET", [_, "batches", name] if (number := f"batches/{name}") in self.batches:
                batch = self.batches[number]
                return data(self._shown(batch, self.look(batch)))
            case "POST", [_, "batches", name] if (number := f"batches/{name.removesuffix(':cancel')}") in self.batches:
                self.batches[number].cancelled = True
                return data({})
        return self.refusal(404, f"Requested entity was not found: {path}")

    def _upload(self, asked: Asked, query: Mapping[str, str]) -> Answer:
        if asked.headers.get("x-goog-upload-command") == "start":
            if asked.headers.get("x-goog-upload-protocol") != "resumable":
                return self.refusal(400, "The upload protocol is not known")
            number = self.new_id("upload")
            self._begun[number] = asked.json["file"]["displayName"]
            where = {
                "x-goog-upload-url": f"http://{asked.headers['host']}{urlsplit(asked.path).path}?upload_id={number}"
            }
            return data({}, headers=where)
        if (
            asked.headers.get("x-goog-upload-command") != "upload, finalize"
            or query.get("upload_id") not in self._begun
        ):
            return self.refusal(400, "No upload was begun")
        number = f"files/{self.new_id('in')}"
        self.files[number] = (self._begun[query["upload_id"]], asked.body)
        return data({"file": self._file(number)})

    def _file(self, number: str) -> Any:
        name, content = self.files[number]
        return {"name": number, "displayName": name, "sizeBytes": str(len(content)), "state": "ACTIVE"}

    def _create(self, asked: Mapping[str, Any], model: str) -> Answer:
        batch = asked["batch"]
        if not batch.get("displayName") or batch["inputConfig"].get("fileName") not in self.files:
            return self.refusal(400, "Please use a valid file, and name the batch")
        rows = [json.loads(line) for line in self.files[batch["inputConfig"]["fileName"]][1].splitlines()]
        if any(row.keys() != {"key", "request"} or "contents" not in row["request"] for row in rows):
            return self.refusal(400, "Each line needs a key and a request")
        requests = [(row["key"], row["request"]) for row in rows]
        name = f"batches/{self.new_id('b')}"
        return data(self._shown(self.add(Batch(name, requests, self.now, batch["displayName"], model)), "PENDING"))

    def _shown(self, batch: Batch, status: str) -> Any:
        state = {"completed": "SUCCEEDED"}.get(status, status.upper())
        about: dict[str, Any] = {
            "@type": "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch",
            "model": f"models/{batch.file}",
            "displayName": batch.name,
            "state": f"BATCH_STATE_{state}",
            "createTime": "2026-11-23T12:00:00Z",
            "batchStats": {"requestCount": str(len(batch.requests))},
            "name": batch.id,
        }
        shown: dict[str, Any] = {"name": batch.id, "metadata": about}
        if state == "FAILED":
            return shown | {"done": True, "error": {"code": 3, "message": "The file has a line that is no request"}}
        if state == "SUCCEEDED":
            rows = [
                {"key": name, "response": body} if code == 200 else {"key": name, "error": body}
                for name, code, body in self.lines(batch)
            ]
            number = f"files/out-{batch.id.removeprefix('batches/')}"
            self.files[number] = ("", _jsonl([*rows, *self.more_rows]))
            about["output"] = {"responsesFile": number}
            shown |= {"done": True, "response": {"responsesFile": number}}
        return shown

    def _page(self, items: str, listed: Sequence[Any], query: Mapping[str, str]) -> Answer:
        start = int(query.get("pageToken", "0"))
        end = start + int(query.get("pageSize", "50"))
        more = {"nextPageToken": str(end)} if end < len(listed) else {}
        return data({items: listed[start:end], **more})
