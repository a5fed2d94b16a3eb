from __future__ import annotations

import inspect
from textwrap import dedent

import pytest

from pytest_fcall.tracking import comparison
from tests.mutants.__main__ import change_of, described, main, reasons_for, sampled
from tests.mutants.operators import mutants_of


@pytest.mark.parametrize(
    ("line", "becomes"),
    [
        ("a < b", ["a <= b", "a > b"]),
        ("a is not None", ["a is None"]),
        ("a and b", ["(a or b)", "b", "a"]),
        ("not a", ["a"]),
        ("a + b * c", ["(a - b * c)", "a + (b / c)"]),
        ("any(a)", ["all(a)"]),
        ("f(3, yes=True)", ["f(4, yes=True)", "f(3, yes=False)"]),
        ("zip(a, b, strict=True)", []),
        ("f('a', '')", ["f('', '')", "f('a', 'mutant')"]),
        ("f'{a}'", ['""']),
        ("a if b else c", ["a if True else c", "a if False else c"]),
        ("[a for a in b if a]", ["[a for a in b if True]", "[a for a in b if False]"]),
        ("cast('int', a)", []),
    ],
)
def test_an_expression_is_mistaken_in_each_way_that_a_run_can_tell(line: str, becomes: list[str]) -> None:
    assert [each.becomes for each in mutants_of("m", f"x = {line}")] == [f"x = {each}" for each in becomes]


@pytest.mark.parametrize(
    ("statement", "becomes"),
    [
        ("raise Error", ["pass"]),
        ("things.append(a)", ["pass"]),
        ("self.a = b", ["pass"]),
        ("a = b", []),
        ("a += b", ["pass", "a -= b"]),
        ("while a: return", ["while False: return"]),
        ("if a: return", ["if True: return", "if False: return"]),
        ("import a", []),
        ("T = TypeVar('T', bound='A')", []),
        ("A: TypeAlias = 'a | b'", []),
        ("a: 'int' = 1", ["a: 'int' = 2"]),
        ("if TYPE_CHECKING: a < b", []),
        ("'What it is for.'", []),
        ("def f(a=1) -> int: return a", ["def f(a=2) -> int: return a", "def f(a=1) -> int: return None"]),
        ("def f(a) -> bool: return a", ["def f(a) -> bool: return True", "def f(a) -> bool: return False"]),
    ],
)
def test_a_statement_is_mistaken_in_each_way_that_a_run_can_tell(statement: str, becomes: list[str]) -> None:
    assert [each.becomes for each in mutants_of("m", statement)] == becomes


def test_a_mutant_is_a_program_with_one_place_changed() -> None:
    source = inspect.getsource(comparison)

    for mutant in mutants_of(comparison.__name__, source):
        compile(mutant.source, "mutant.py", "exec")
        before, after = source.splitlines(), mutant.source.decode().splitlines()
        assert before[: mutant.line - 1] == after[: mutant.line - 1]


MODULE = """
    class Till:
        def open(self, key):
            return (
                key ==
                "ä"
            )
"""


def test_a_mutant_is_described_by_its_place_and_on_one_line() -> None:
    texts = [described(each) for each in mutants_of("shop.till", dedent(MODULE))]

    assert "shop/till.py:5 Till.open\n    - key == \"ä\"\n    + key != 'ä'" in texts


def test_a_reason_stays_with_its_mutant_when_lines_move() -> None:
    reasons = reasons_for(
        """
        [[mutant]]
        module = "shop.till"
        function = "Till.open"
        was = 'key == "ä"'
        becomes = "key != 'ä'"
        because = "Nobody has a key."
        """
    )

    assert reasons.keys() & {change_of(each) for each in mutants_of("shop.till", "# moved\n" + dedent(MODULE))}


def test_a_change_of_the_package_exchanges_little_of_a_sample() -> None:
    lines = [f"x = a{number} < b{number}" for number in range(100)]
    before, after = mutants_of("m", "\n".join(lines)), mutants_of("m", "\n".join(["x = c < d", *lines]))

    sample = {change_of(each) for each in sampled(before, 20, seed=1)}
    assert len(sample) == 20
    assert len(sample & {change_of(each) for each in sampled(after, 20, seed=1)}) >= 18
    assert sample != {change_of(each) for each in sampled(before, 20, seed=2)}


@pytest.mark.nightly  # nothing but `make mutants` goes this way
def test_a_mistake_is_seen_where_a_test_fails_or_does_not_end(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTEST_ADDOPTS")  # the tests of the project are run with all tools
    pytester.makepyfile(**{
        "project/shop/__init__": "",
        "project/shop/till": """
            def total(prices):
                paid = 0
                while prices:
                    paid += prices.pop()
                return paid

            def never_called():
                return 1
        """,
        "project/shop_tests/test_till": """
            from shop.till import total

            def test_the_total_is_paid():
                assert total([1, 2]) == 3
        """,
    })  # fmt: skip
    pytester.mkdir("copy")
    script = pytester.makepyfile(
        tried="""
        from pathlib import Path

        from tests.mutants.rooms import Room
        from tests.mutants.trial import Workplace

        project, room = Path("project").resolve(), Room("shop", "shop_tests")
        workplace = Workplace(project, Path("copy").resolve(), seconds_a_test=3, imported_before=["anyio", "syrupy"])
        coverage = workplace.measured(room)
        wanted = {"pass", "paid -= prices.pop()", "return 2"}
        for mutant in room.mutants(project):
            if mutant.becomes in wanted:
                print(mutant.becomes, "|", workplace.is_seen(mutant, coverage))
        """
    )
    result = pytester.runpython(script)

    assert result.outlines == ["pass | True", "paid -= prices.pop() | True", "return 2 | False"]
    assert "paid += prices.pop()" in pytester.path.joinpath("copy/shop/till.py").read_text("utf-8")


def test_a_sample_without_a_mutant_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["mutants", "--sample", "0"])
    with pytest.raises(SystemExit):
        main()
    assert "--sample must be at least 3" in capsys.readouterr().err
