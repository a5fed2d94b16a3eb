from __future__ import annotations

import pytest

from pytest_fcall.suites.bfcl.rest import UnsendableRequest, request_of

URL = "url='https://sea.example/tides'"


@pytest.mark.parametrize(
    "source",
    [
        f"requests.get({URL}, params={{'port': 'Oslo', 'day': 3}})",
        f"requests_get(params={{'day': 3.0, 'port': 'Oslo', 'unit': None}}, {URL}, timeout=5)",
        "requests.get('https://SEA.example/tides/?port=Oslo', params=[('day', '3')])",
        f"requests.get({URL}, params='day=3&port=Oslo', auth=[], cert='', verify=True, proxies={{}}, cookies={{}})",
    ],
)
def test_what_a_server_sees_as_the_same_is_one_request(source: str) -> None:
    request = request_of(source)
    assert request.address == "https://sea.example/tides"
    assert request.parameters == (("day", "3"), ("port", "Oslo"))
    assert request.headers == frozenset()


def test_placeholders_of_keys_are_alike_and_other_values_are_not() -> None:
    with_key = "requests.get(url='https://sea.example/{}/tides', params={{'key': '{}'}}, headers={{'X-Key': 'any'}})"
    first, other, wrong = (
        request_of(with_key.format(key, key)) for key in ("YOUR-SEA-API-KEY", "SEA-API-KEY", "my-key")
    )
    assert first == other != wrong
    assert first.headers == {"x-key"}


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("requests.get(params={})", "missing 1 required positional argument: 'url'"),
        ("requests.post(url='https://a.example')", "is not defined"),
        ("requests.get(url='/tides')", "Invalid URL"),
        ("requests.get(url=3)", "Invalid URL"),
        ("requests.get(url='https://[')", "Invalid"),
        (f"requests.get({URL}, port='Oslo')", "unexpected keyword argument 'port'"),
        (f"requests.get({URL}, auth='None')", "'str' object is not callable"),
        (f"requests.get({URL}, cert='None')", "TLS certificate"),
        (f"requests.get({URL}, verify='True')", "certificate bundle"),
        (f"requests.get({URL}, timeout=0)", "above 0"),
        (f"requests.get({URL}, timeout='5')", "above 0"),
        (f"requests.get({URL}, proxies={{'https': 'http://p.example'}})", "proxies"),
        (f"requests.get({URL}, headers={{'X-Count': 3}})", "must be a string"),
        (f"requests.get({URL}, headers='X-Count')", "no attribute 'items'"),
        (f"requests.get({URL}, params=[3])", "neither a mapping nor pairs"),
        (f"requests.get({URL}, cookies='a')", "cookies"),
        ("[3]", "not a call"),
        ("requests.get(", "never closed"),
        ("open('/etc/passwd')", "is not defined"),
    ],
)
def test_a_call_that_sends_nothing_says_why(source: str, why: str) -> None:
    with pytest.raises(UnsendableRequest, match=why.replace("(", r"\(")):
        request_of(source)
