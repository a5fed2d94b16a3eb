"""A turn with faulty results, followed as if the calls that had them were never made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pytest_fcall.core.conversation import CallResult, FollowedCall, Follower, NamedCalls
from pytest_fcall.core.expectation import Expectation
from pytest_fcall.core.reply import Call, Reply
from pytest_fcall.core.result_fault import ResultFault


def recovering(
    follow: Callable[[Expectation | None, NamedCalls], Follower], fault: ResultFault
) -> Callable[[Expectation | None, NamedCalls], Follower]:
    """Make followers that recover from a fault, of those that `follow` makes."""
    return lambda expectation, known: RecoveryFollower(lambda: follow(expectation, known), fault)


class RecoveryFollower:
    """Follows the calls of one turn, without those that had a faulty result, so that they may be made again.

    Behind a faulty result the tools that may be called instead are allowed. `make` makes the follower of the others.
    """

    def __init__(self, make: Callable[[], Follower], fault: ResultFault) -> None:
        self._make = make
        self._fault = fault
        self._follower = make()
        self._kept: list[tuple[Reply, list[Call], list[CallResult]]] = []
        self._last: tuple[Reply, Sequence[Call]] = (Reply(), ())
        self._instead: frozenset[int] = frozenset()
        self._has_fault = False

    @property
    def known(self) -> NamedCalls:
        """All calls with a name that had a sound result."""
        return self._follower.known

    @property
    def is_complete(self) -> bool:
        """Whether all required calls had a sound result."""
        return self._follower.is_complete

    def follow(self, reply: Reply, calls: Sequence[Call]) -> list[FollowedCall]:
        """Follow the calls of one reply."""
        self._last = reply, calls
        followed = self._follower.follow(reply, calls)
        self._instead = frozenset(index for index, each in enumerate(followed) if self._is_instead(each))
        return [replace(each, expected=True) if index in self._instead else each for index, each in enumerate(followed)]

    def record_results(self, results: Sequence[CallResult]) -> None:
        """Record the results of the calls that were followed last."""
        self.keep(results)

    def keep(self, results: Sequence[CallResult]) -> list[int]:
        """The same; gives the indices of the calls that count."""
        reply, calls = self._last
        faulty = {index for index, result in enumerate(results) if result.fault}
        kept = [index for index in range(len(calls)) if index not in faulty and index not in self._instead]
        given = [results[index] for index in kept if index < len(results)]
        self._kept.append((reply, [calls[index] for index in kept], given))
        self._has_fault = self._has_fault or bool(faulty)
        self._follower = self._make()
        for earlier in self._kept:
            self._follower.follow(*earlier[:2])
            self._follower.record_results(earlier[2])
        return kept

    def _is_instead(self, each: FollowedCall) -> bool:
        is_free = self._has_fault and not each.expected and not each.forbidden
        return is_free and each.call.name in self._fault.other_tools
