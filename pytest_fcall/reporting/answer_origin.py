"""Where the answers of a run came from: how many the model gave, how many were replayed, and how old those are."""

from __future__ import annotations

from typing import Final

from pytest_fcall.reporting.results import Results

_UNITS: Final = (("days", 86_400), ("hours", 3_600), ("minutes", 60))


def origin_text(results: Results) -> str:
    """Write `31 asked`, `25 asked, 6 replayed (2 to 9 days old)` or `all 31 replayed (3 days old)`.

    Samples count one by one. The text is empty where nothing was answered.
    """
    answered = [result for result in results.results if result.answered]
    asked, replayed = sum(result.asked for result in answered), sum(result.replays for result in answered)
    ages = f" ({text})" if (text := ages_text(results)) else ""
    if not replayed:
        return f"{asked:,} asked{f', in part replayed{ages}' if ages else ''}" if asked else ""
    every = "all " if not asked and replayed > 1 else ""
    return ", ".join([*([f"{asked:,} asked"] if asked else []), f"{every}{replayed:,} replayed{ages}"])


def is_asked(results: Results) -> bool:
    """Whether any answer was asked for in the run; one of a version that did not note it counts as such."""
    return any(result.asked for result in results.results) or not any(result.replays for result in results.results)


def ages_text(results: Results) -> str:
    """Write how old the replies were that were replayed, oldest and newest; nothing where none was, or none has an age.

    Runs of earlier versions only know the oldest.
    """
    if results.oldest_reply is None:
        return "of unknown age" if results.undated_replies else ""
    newest = results.oldest_reply if results.newest_reply is None else results.newest_reply
    (first, unit), (last, last_unit) = _age(newest), _age(results.oldest_reply)
    since = "" if (first, unit) == (last, last_unit) else f"{first} to " if unit == last_unit else f"{first} {unit} to "
    return f"{since}{last} {last_unit} old{', some of unknown age' if results.undated_replies else ''}"


def _age(seconds: float) -> tuple[str, str]:
    """The age in whole units, of the largest unit that it has at least two of."""
    for unit, length in _UNITS:
        if seconds >= 2 * length:
            return f"{int(seconds // length)}", unit
    return "under 2", "minutes"
