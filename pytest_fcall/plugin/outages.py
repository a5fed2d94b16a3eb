"""What the team's own code raises when it could not reach its model."""

from __future__ import annotations

_NAMES = frozenset(
    {
        "APIConnectionError",  # openai, anthropic
        "ClientConnectionError",  # aiohttp
        "ConnectionError",  # requests
        "EndpointConnectionError",  # botocore
        "ServiceUnavailable",  # google
        "Timeout",  # requests
        "TransportError",  # httpx
    }
)


def is_outage(error: BaseException) -> bool:
    """Whether a server or the network is to blame, by the classes that libraries have for it."""
    if isinstance(error, ConnectionError | TimeoutError):
        return True
    return any(kind.__name__ in _NAMES for kind in type(error).__mro__)
