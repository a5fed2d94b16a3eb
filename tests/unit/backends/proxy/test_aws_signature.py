from __future__ import annotations

import pytest

from pytest_fcall.backends.proxy.forwarded_request import UnknownSecret, signed_for

ENVIRONMENT = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}
AUTHORIZATION = (
    "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, "
    "SignedHeaders=content-type;host;x-amz-date, Signature="
)
HEADERS = [
    ("Content-Type", "application/x-www-form-urlencoded; charset=utf-8"),
    ("X-Amz-Date", "20150830T123600Z"),
    ("Authorization", f"{AUTHORIZATION}{'0' * 64}"),
]
URL = "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08"


def test_the_signature_is_that_of_the_example_in_the_documentation_of_aws() -> None:
    signed = dict(signed_for(URL, "GET", HEADERS, b"", ENVIRONMENT))
    signature = "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
    assert signed == dict(HEADERS) | {"Authorization": f"{AUTHORIZATION}{signature}"}


def test_the_signature_is_that_of_the_address() -> None:
    def signature(url: str, content: bytes = b"") -> str:
        return dict(signed_for(url, "POST", HEADERS, content, ENVIRONMENT))["Authorization"]

    ours = "https://bedrock-runtime.us-east-1.amazonaws.com/model/m%3A0/converse"
    others = [URL, ours.replace("east", "west"), ours.replace("%3A", ":"), f"{ours}?x"]
    assert len({signature(ours), signature(ours, b"{}"), *map(signature, others)}) == 6


def test_other_keys_are_passed_on_as_they_are() -> None:
    for headers in ([], [("Authorization", "Bearer sk-very-secret")], [("authorization", "AWS4-HMAC-SHA256 ?")]):
        assert signed_for(URL, "GET", headers, b"", ENVIRONMENT) == headers


@pytest.mark.parametrize("environment", [{}, {**ENVIRONMENT, "AWS_ACCESS_KEY_ID": "ANOTHER"}])
def test_a_key_that_is_not_known_here_is_told(environment: dict[str, str]) -> None:
    with pytest.raises(UnknownSecret, match="AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"):
        signed_for(URL, "GET", HEADERS, b"", environment)
