"""The environment of a job of GitHub and of GitLab, whose API is a server on loopback."""

from __future__ import annotations

import json
from pathlib import Path

from tests.servers import Server
from tests.servers.comment_apis import TOKEN

REPORT = "<!-- pytest-fcall -->\n### ✅ fcall: passed\n\n2 answers judged, nothing is worse.\n"


def github_job(folder: Path, server: Server, event: object = None) -> dict[str, str]:
    """The job of pull request 7, unless another event has started it."""
    path = folder / "event.json"
    path.write_text(json.dumps({"pull_request": {"number": 7}} if event is None else event), encoding="utf-8")
    return {
        "GITLAB_CI": "",
        "GITHUB_ACTIONS": "true",
        "GITHUB_API_URL": f"http://{server.host}/api/v3",
        "GITHUB_EVENT_NAME": "pull_request" if event is None else "push",
        "GITHUB_EVENT_PATH": str(path),
        "GITHUB_REPOSITORY": "octo/shop",
        "GITHUB_RUN_ID": "1001",
        "GITHUB_SERVER_URL": "https://github.example",
        "GITHUB_TOKEN": TOKEN,
        "NO_PROXY": "127.0.0.1",
    }


def gitlab_job(server: Server) -> dict[str, str]:
    """The job of merge request 7."""
    return {
        "GITLAB_CI": "true",
        "CI_API_V4_URL": f"http://{server.host}/api/v4",
        "CI_JOB_URL": "https://gitlab.example/octo/shop/-/jobs/9",
        "CI_MERGE_REQUEST_IID": "7",
        "CI_MERGE_REQUEST_PROJECT_ID": "42",
        "CI_MERGE_REQUEST_PROJECT_URL": "https://gitlab.example/octo/shop",
        "CI_PROJECT_ID": "43",
        "GITLAB_TOKEN": TOKEN,
        "NO_PROXY": "127.0.0.1",
    }
