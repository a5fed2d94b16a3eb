"""Operators on texts: `$regex`, `$text`, `$contains`, `$normalised`, `$rouge`, `$number`."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Context, Decimal
from functools import partial
from itertools import islice
from types import MappingProxyType

from pytest_fcall.core.bounded_text import MATCH_SECONDS, compiled_expression
from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.values import Json
from pytest_fcall.matching.operators.numeric import exact_decimal, tolerance_margin
from pytest_fcall.matching.operators.table import BadOperandError, operand_number, operand_text
from pytest_fcall.matching.place import Mismatch, Place, is_number
from pytest_fcall.matching.strings import NORMAL_FORMS, exact, near_miss, reader_form, relax, with_digits

_MAX_NUMBER_LENGTH = 100
"""Longer rows of digits, in characters, are not read as numbers."""
_MAX_DIFFERENCE = 3_000
"""More digits than lie between the first of the largest number that is compared and the last of the smallest one."""
_SUPERSCRIPTS = {ord(digit): f"^{value}" for value, digit in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}
"""Written as powers before compatibility forms are unified: 10² is not 102."""
_DIGIT_SPACES = re.compile(r"(?<=[0-9])[\u00a0\u2009\u202f](?=[0-9]{3}(?![0-9]))")
"""Special spaces between the digits of one number. An ordinary space may separate two numbers."""
_NOT_NUMBERS = re.compile(r"(?<!\d)(?:\d++([-/])\d++\1\d++|\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?!\d)|\d++\u2044\d++)")
"""Dates and telephone numbers, times, fractions."""
_NUMBER = re.compile(
    r"(?P<sign>(?<![\w)%])-|\bminus )?[$€£¥₹]?"
    r"(?<![\w.^])(?P<digits>\.?\d+(?:[.,']\d+)*)"
    r"(?:e(?P<exponent>[-+]?\d{1,3})(?!\w))?"
    r"(?: ?(?P<percent>%|per ?cent\b)| (?P<scale>thousand|million|billion|trillion)\b)?"
)
_POWERS: Mapping[str, int] = MappingProxyType({"thousand": 3, "million": 6, "billion": 9, "trillion": 12})
_GROUPED = re.compile(
    r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?"  # 1,234.5
    r"|[1-9]\d?(?:,\d{2})+,\d{3}(?:\.\d+)?"  # 1,00,000
    r"|[1-9]\d{0,2}(?:'\d{3})+(?:\.\d+)?"  # 1'234.5
    r"|\d*\.?\d+"
)
_GROUPED_BY_POINTS = re.compile(
    r"[1-9]\d{0,2}(?:\.\d{3})+,\d+|[1-9]\d{0,2}(?:\.\d{3}){2,}|\d+,\d+|[1-9]\d{0,2}(?:'\d{3})+,\d+"
)


def numbers_in_text(text: str) -> Iterator[Decimal]:
    """All numbers in a text, in order; 5% counts as 5 and as 0.05.

    Digits after letters, as in `F7`, are not numbers, and neither are dates and times.
    """
    joined = _DIGIT_SPACES.sub("'", text.translate(_SUPERSCRIPTS))
    plain = with_digits(relax(joined))
    exact_context = Context(prec=_MAX_NUMBER_LENGTH)
    for found in _NUMBER.finditer(_NOT_NUMBERS.sub("/", plain)):
        for value in _number_values(found["digits"]):
            power = int(found["exponent"] or 0) + _POWERS.get(found["scale"], 0)
            number = value.scaleb(power, exact_context) if power else value
            number = number.copy_negate() if found["sign"] else number
            yield number
            if found["percent"]:
                yield number.scaleb(-2, exact_context)


def _number_values(written: str) -> list[Decimal]:
    """Read one number, or several separated by commas only."""
    if len(written) > _MAX_NUMBER_LENGTH:
        return []
    if _GROUPED.fullmatch(written):
        return [Decimal(written.replace(",", "").replace("'", ""))]
    if _GROUPED_BY_POINTS.fullmatch(written):
        return [Decimal(written.replace(".", "").replace("'", "").replace(",", "."))]
    return [Decimal(part) for part in written.split(",") if re.fullmatch(r"\d*\.?\d+", part)] if "," in written else []


def regex(operator: Operator, got: Json, place: Place) -> list[Mismatch]:
    """A string that the expression matches from end to end."""
    try:
        expression = compiled_expression(operand_text(operator))
    except ValueError as error:
        raise BadOperandError(f"the operand of `$regex` {error}") from None
    if not isinstance(got, str):
        return place.mismatch(operator, got)
    try:
        matches = expression.fullmatch(exact(got), timeout=MATCH_SECONDS)
    except TimeoutError:
        why = "the expression takes too long on this text; write it without repeats inside repeats."
        return place.undecided(operator, got, why)
    return [] if matches else place.mismatch(operator, got)


def same_text(operator: Operator, got: Json, place: Place) -> list[Mismatch]:
    """The same text but for case, white space, quotes, dashes and number words, or as `strings` says."""
    expected, normal = operand_text(operator), _normal_form(operator.options.get("strings"))
    if not isinstance(got, str):
        return place.mismatch(operator, got)
    return [] if normal(got) == normal(expected) else place.mismatch(operator, got, partial(near_miss, expected, got))


def contains(operator: Operator, got: Json, place: Place) -> list[Mismatch]:
    """A string with this text in it, or a list with an item that matches."""
    wanted = operator.operand
    if isinstance(got, str):
        if isinstance(wanted, Operator) and wanted.name == "literal":  # a resolved `$from`
            wanted = wanted.operand
        if isinstance(wanted, Operator) and wanted.name == "from":
            return place.compare(wanted, got)
        if not isinstance(wanted, str):
            return place.mismatch(operator, got)
        normal = NORMAL_FORMS[place.strings]
        if normal(wanted) in normal(got):
            return []
        differs_in_spelling = relax(wanted) in relax(got)
        hint = "`strings: relaxed` would find it" if differs_in_spelling else ""
        return place.mismatch(operator, got, hint)
    if not isinstance(got, list | tuple):
        return place.mismatch(operator, got)
    undecided: list[Mismatch] = []
    for index, item in enumerate(got):
        mismatches = place.child(index).compare_by_rule(wanted, item)
        if not mismatches:
            return []
        undecided.extend(each for each in mismatches if each.undecided)
    return undecided or place.mismatch(operator, got)


def _normal_form(rule: Pattern) -> Callable[[str], str]:
    if rule is None:
        return reader_form
    if isinstance(rule, str) and rule in NORMAL_FORMS:
        return NORMAL_FORMS[rule]
    raise BadOperandError(f"`strings` takes {', '.join(NORMAL_FORMS)}")


_ENGLISH_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_PUNCTUATION = dict.fromkeys(map(ord, string.punctuation))
_WORD = re.compile(r"[^\W_]+")
_MIN_ROUGE = 0.5
_MAX_ROUGE_STEPS = 4_000_000
"""Pairs of words that are compared in at most about a second."""
_MAX_LISTED = 5
_MAX_DIGITS_SHOWN = 40


def normalised(operator: Operator, got: Json, place: Place) -> list[Mismatch]:
    """The same text but for case, ASCII punctuation, English articles and white space."""
    if isinstance(got, str) and _normalised(got) == _normalised(operand_text(operator)):
        return []
    return place.mismatch(operator, got)


def number_in_text(operator: Operator, got: Json, place: Place) -> list[Mismatch]:
    """A text that contains this number."""
    expected = exact_decimal(operand_number(operator))
    if expected is None:
        raise BadOperandError("`$number` takes a finite number")
    within = operator.options.get("within")
    margin = Decimal(0) if within is None else tolerance_margin(within, expected)
    if not isinstance(got, str):
        return place.mismatch(operator, got, "it is a number: `$approx` accepts one" if is_number(got) else "")
    wide = Context(prec=_MAX_DIFFERENCE, traps=[])
    least, most = wide.subtract(expected, margin), wide.add(expected, margin)
    if any(least <= number <= most for number in numbers_in_text(got)):
        return []
    return place.mismatch(operator, got, partial(_numbers_hint, got))


def rouge(operator: Operator, got: Json, place: Place) -> list[Mismatch]:
    """A text whose ROUGE-L score with the reference is at least `least`."""
    least = operator.options.get("least", _MIN_ROUGE)
    if not is_number(least):
        raise BadOperandError("`least` takes a number from 0 to 1")
    if not isinstance(got, str):
        return place.mismatch(operator, got)
    reference, given = _casefolded_words(operand_text(operator)), _casefolded_words(got)
    if len(reference) * len(given) > _MAX_ROUGE_STEPS:
        return place.undecided(operator, got, f"with {len(given):,} words it is too long for `$rouge`.")
    score = _rouge_l(reference, given)
    return [] if score >= least else place.mismatch(operator, got, f"its ROUGE-L is {score:.3f}")


def _rouge_l(reference: Sequence[str], given: Sequence[str]) -> float:
    try:
        from rouge_score.rouge_scorer import RougeScorer  # type: ignore[import-untyped]  # it has no types
    except ImportError:
        from pytest_fcall.core.commands import install_command

        raise BadOperandError(f"`$rouge` needs rouge-score: {install_command('text')}") from None
    scorer = RougeScorer(["rougeL"], tokenizer=_WhitespaceTokenizer())
    return float(scorer.score(" ".join(reference), " ".join(given))["rougeL"].fmeasure)


class _WhitespaceTokenizer:
    """Gives the library the words as they are: its own tokenizer drops all that is not ASCII."""

    def tokenize(self, words: str) -> list[str]:
        """Split joined words."""
        return words.split()


def _casefolded_words(written: str) -> list[str]:
    return _WORD.findall(written.casefold())


def _normalised(written: str) -> str:
    return " ".join(_ENGLISH_ARTICLES.sub(" ", written.lower().translate(_NO_PUNCTUATION)).split())


def _numbers_hint(got: str) -> str:
    numbers = [*islice(dict.fromkeys(numbers_in_text(got)), _MAX_LISTED + 1)]
    if not numbers:
        return "it contains no number"
    listed = ", ".join([*map(_number_text, numbers[:_MAX_LISTED]), *(["…"] if len(numbers) > _MAX_LISTED else [])])
    return f"it contains the number{'s' * (len(numbers) > 1)} {listed}"


def _number_text(number: Decimal) -> str:
    """The number in full, or by its size where that is long: a few letters of an answer may stand for many digits."""
    text = f"{number:.4g}"
    return text if max(abs(number.adjusted()), len(number.as_tuple().digits)) > _MAX_DIGITS_SHOWN else f"{number:f}"
