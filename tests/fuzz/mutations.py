"""Files that are nearly right: bytes of a real one, changed in a few places."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

PIECES = (
    b"",
    b"\x00",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\n",
    b"[" * 5_000,
    b"9" * 5_000,
    b"1e999",
    b"-1",
    b"NaN",
    b"null",
    b"true",
    b"{}",
    b"[]",
    b'""',
    b'"\\ud800"',
    b"<<<<<<< ours\n",
    b"=======\n",
    b">>>>>>> theirs\n",
    b"&a [*a]",
    b"!!python/object/apply:os.system [ls]",
)


@st.composite
def mutations(draw: st.DrawFn, seeds: Sequence[bytes]) -> bytes:
    """One of the seeds, with one to four changes."""
    content = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(content)))
        length = draw(st.one_of(st.integers(0, 8), st.integers(0, len(content))))
        piece = draw(
            st.one_of(st.binary(max_size=4), st.sampled_from(PIECES), st.just(content[start : start + length] * 2))
        )
        content = content[:start] + piece + content[start + length :]
    return content
