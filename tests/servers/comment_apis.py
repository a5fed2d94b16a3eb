"""The APIs by which GitHub and GitLab keep comments, as far as `fcall comment` uses them."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from itertools import count
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.servers.answer import Answer, Asked

TOKEN = "token-of-the-job-7f3a"  # noqa: S105 - it opens nothing
LONGEST = 65_536


def refusal(status: int, message: str, **headers: str) -> Answer:
    return Answer(json.dumps({"message": message}).encode(), status, headers=headers)


def answer(data: Any, status: int = 200) -> Answer:
    return Answer(json.dumps(data).encode(), status)


class CommentApi(ABC):
    """The comments of one pull request; a responder of a Server."""

    own_name: str
    fields: tuple[str, str]
    """Where a comment names its author."""
    list_path: str
    update: str

    def __init__(self, *, writable: bool = True) -> None:
        self.writable = writable
        self.comments: list[dict[str, Any]] = []
        self._numbers = count(1)

    def add(self, body: str, author: str | None = None) -> int:
        """Have somebody write a comment; the token's owner, unless another is named."""
        number = next(self._numbers)
        who = self.own_name if author is None else author
        author_fields = {self.fields[0]: {self.fields[1]: who}}
        self.comments.append({"id": number, "body": body, **author_fields, **self.further(number)})
        return number

    @property
    def bodies(self) -> list[str]:
        return [each["body"] for each in self.comments]

    @abstractmethod
    def further(self, number: int) -> dict[str, Any]:
        """Further fields of a comment."""

    @abstractmethod
    def bears_token(self, asked: Asked) -> bool: ...

    @abstractmethod
    def other(self, asked: Asked, path: str) -> Answer:
        """Answer what is not about comments."""

    @abstractmethod
    def number_in(self, path: str) -> int | None: ...

    def __call__(self, asked: Asked) -> Answer:
        if not self.bears_token(asked):
            return refusal(401, "Bad credentials")
        url = urlsplit(asked.path)
        if url.path == self.list_path and asked.method == "GET":
            query = {name: int(values[0]) for name, values in parse_qs(url.query).items() if values[0].isdecimal()}
            size, page = query.get("per_page", 30), query.get("page", 1)
            return answer(self.comments[(page - 1) * size : page * size])
        number = self.number_in(url.path)
        if url.path != self.list_path and number is None:
            return self.other(asked, url.path)
        if not self.writable:
            return refusal(403, "Resource not accessible by integration")
        return self._write(asked, number)

    def _write(self, asked: Asked, number: int | None) -> Answer:
        kept = next((each for each in self.comments if each["id"] == number), None)
        if number is not None and kept is None:
            return refusal(404, "Not Found")
        if asked.method == "DELETE" and kept:
            self.comments.remove(kept)
            return Answer(b"", 204)
        body = asked.json["body"]
        if len(body) > LONGEST:
            return refusal(422, "Validation Failed: Body is too long (maximum is 65536 characters)")
        if kept and asked.method == self.update:
            kept["body"] = body
            return answer(kept)
        if number is None and asked.method == "POST":
            self.add(body)
            return answer(self.comments[-1], 201)
        return refusal(404, "Not Found")


class GitHubApi(CommentApi):
    """Pull request 7 of octo/shop, for the token of a job."""

    own_name = "github-actions[bot]"
    fields = ("user", "login")
    list_path = "/api/v3/repos/octo/shop/issues/7/comments"
    update = "PATCH"

    def further(self, number: int) -> dict[str, Any]:
        return {"html_url": f"https://github.example/octo/shop/pull/7#issuecomment-{number}"}

    def bears_token(self, asked: Asked) -> bool:
        return asked.headers.get("authorization") == f"Bearer {TOKEN}"

    def other(self, asked: Asked, path: str) -> Answer:
        if path == "/api/graphql" and "viewer" in asked.json["query"]:
            return answer({"data": {"viewer": {"login": self.own_name}}})
        if path == "/api/v3/user":
            return refusal(403, "Resource not accessible by integration")
        return refusal(404, "Not Found")

    def number_in(self, path: str) -> int | None:
        found = re.fullmatch(r"/api/v3/repos/octo/shop/issues/comments/(\d+)", path)
        return int(found[1]) if found else None


class GitLabApi(CommentApi):
    """Merge request 7 of project 42, for the access token of a project."""

    own_name = "project_42_bot_1f"
    fields = ("author", "username")
    list_path = "/api/v4/projects/42/merge_requests/7/notes"
    update = "PUT"

    def further(self, number: int) -> dict[str, Any]:
        return {"system": False, "noteable_iid": 7, "web_id": number}

    def bears_token(self, asked: Asked) -> bool:
        return asked.headers.get("private-token") == TOKEN

    def other(self, asked: Asked, path: str) -> Answer:
        if path == "/api/v4/user" and asked.method == "GET":
            return answer({"id": 5, "username": self.own_name})
        return refusal(404, "404 Not Found")

    def number_in(self, path: str) -> int | None:
        found = re.fullmatch(rf"{self.list_path}/(\d+)", path)
        return int(found[1]) if found else None
