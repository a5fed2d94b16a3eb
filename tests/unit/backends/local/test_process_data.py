from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from pytest_fcall.backends.local.process_data import request_from_data, request_to_data
from pytest_fcall.core import Json, Request, Tool
from pytest_fcall.core.json_data import DamagedData

ADD = Tool("math.add", "Add \ud800.", {"type": "object", "properties": {"a": {"type": "integer"}}})


@pytest.mark.parametrize(
    "request_",
    [
        Request(()),
        Request(({"role": "user", "content": None},), (ADD, ADD), {"seed": 2**70, "stop": ["\0"]}, 3),
        Request((), now=datetime(2026, 2, 3, 4, 5, 6, 7, tzinfo=UTC)),
    ],
)
def test_a_request_arrives_as_it_was_sent(request_: Request) -> None:
    arrived = request_from_data(json.loads(json.dumps(request_to_data(request_))))
    assert arrived == request_
    assert arrived.now == request_.now


@pytest.mark.parametrize("data", [None, [], {}, {"messages": [], "tools": [1], "settings": {}}, {"messages": {}}])
def test_what_is_no_request_is_damaged(data: Json) -> None:
    with pytest.raises(DamagedData):
        request_from_data(data)
