"""The call in an answer, as the original takes it out."""

from __future__ import annotations


def extracted(answer: str, *, whole: bool) -> str | None:
    """Give what stands in the field `api_call`, from two characters after its colon to its last closing bracket.

    Where an answer has no such field, `whole` tells whether all of it is judged; else there is None. Quotes are cut
    as the original cuts them: the one that opens the value stays, or goes, by how many blanks are before it.
    """
    _, found, after = answer.partition("api_call")
    if not found:
        return answer if whole else None
    field = after.split("api_call", 1)[0].split("api_provider", 1)[0]
    start = max(field.find(":"), 0)
    end = field.rfind(")") if ")" in field else -2
    return field[start + 2 : end + 1]
