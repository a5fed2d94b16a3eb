"""The comments of a merge request on GitLab, as a job of GitLab CI sees it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from pytest_fcall.cli.comment.api import Api, UnusableEnvironment, api_address
from pytest_fcall.cli.comment.thread import NoThread, Thread, field_of
from pytest_fcall.core import Json


def gitlab_thread(environment: Mapping[str, str], token: str, number: int | None) -> Thread:
    """The comments of the merge request with this number, or else of the one that the job is for.

    Raises NoThread, and UnusableEnvironment.
    """
    named = environment.get("CI_MERGE_REQUEST_IID", "")
    if not number and not named:
        raise NoThread("the pipeline belongs to no merge request; --pull-request names one")
    number = number or _number(named, "CI_MERGE_REQUEST_IID")
    # Where a fork's pipeline runs in the fork, the merge request is in the project that it came from.
    variable = "CI_MERGE_REQUEST_PROJECT_ID" if environment.get("CI_MERGE_REQUEST_PROJECT_ID") else "CI_PROJECT_ID"
    project = _number(environment.get(variable, ""), variable)
    base = api_address(environment.get("CI_API_V4_URL", ""), "CI_API_V4_URL")
    notes = f"{base}/projects/{project}/merge_requests/{number}/notes"
    web = environment.get("CI_MERGE_REQUEST_PROJECT_URL") or environment.get("CI_PROJECT_URL") or ""
    return Thread(
        host="GitLab",
        name=f"merge request {number} of project {project}",
        headers={"PRIVATE-TOKEN": token},
        comments=notes,
        order="order_by=created_at&sort=asc&",
        comment=f"{notes}/",
        update="PUT",
        author=("author", "username"),
        own_name=partial(_username, f"{base}/user"),
        page=lambda written: f"{web}/-/merge_requests/{number}#note_{written.get('id')}",
        job=environment.get("CI_JOB_URL", ""),
    )


async def _username(address: str, api: Api) -> Json:
    return field_of(await api.ask("say whose token it is", "GET", address), "username")


def _number(text: str, variable: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise UnusableEnvironment(f"{variable}: must be a number, not {text!r}")
    return int(text)
