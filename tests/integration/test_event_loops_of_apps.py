"""Apps that run an event loop of their own, and apps that are awaited in ours."""

from __future__ import annotations

import pytest

from tests.integration.conftest import Shop

OWN_LOOP = """
    import asyncio, threading

    async def said(request):
        await asyncio.sleep(0)
        assert threading.current_thread() is threading.main_thread()
        return request.messages[-1]["content"]

    def answer(request, run=asyncio.run):
        work = said(request)
        try:
            return run(work)
        finally:
            work.close()

    async def answer_async(request):
        return answer(request)

    async def answer_by_the_running_loop(request):
        return answer(request, asyncio.get_event_loop().run_until_complete)
"""
ONE_TURN = """
cases:
  - {id: hello, prompt: hello, answer: hello}
"""
TWO_TURNS = """
cases:
  - id: hello
    turns:
      - {user: hello, answer: hello}
      - {user: bye, answer: bye}
"""


@pytest.fixture
def loops(shop: Shop) -> Shop:
    shop.pytester.makepyfile(loops=OWN_LOOP)
    return shop


@pytest.mark.parametrize("cases", [ONE_TURN, TWO_TURNS], ids=["one turn", "two turns"])
def test_an_app_without_async_runs_a_loop_of_its_own_in_the_main_thread(loops: Shop, cases: str) -> None:
    loops.cases(cases)
    loops.run("--fc-model=python:loops:answer").assert_outcomes(passed=1)


def test_the_loop_of_the_thread_is_the_apps_own_in_all_cases(loops: Shop) -> None:
    loops.pytester.makepyfile(
        kept="""
        import asyncio

        KEPT = []

        async def said(request):
            return request.messages[-1]["content"]

        def answer(request):
            if not KEPT:
                KEPT.append(asyncio.new_event_loop())
                asyncio.set_event_loop(KEPT[0])
            return asyncio.get_event_loop().run_until_complete(said(request))
        """
    )
    loops.pytester.makeconftest(
        """
        import asyncio, kept

        def pytest_unconfigure():
            assert asyncio.get_event_loop() is kept.KEPT[0]
            asyncio.set_event_loop(None)
            kept.KEPT.pop().close()
        """
    )
    loops.cases(ONE_TURN, "a.fc.yaml")
    loops.cases(TWO_TURNS, "b.fc.yaml")
    result = loops.run("--fc-model=python:kept:answer")
    result.assert_outcomes(passed=2)
    assert result.ret == 0


@pytest.mark.parametrize("app", ["answer_async", "answer_by_the_running_loop"])
def test_an_async_app_that_runs_a_loop_of_its_own_is_told_to_await(loops: Shop, app: str) -> None:
    loops.cases(ONE_TURN)
    result = loops.run(f"--fc-model=python:loops:{app}")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*the app is async, and something in it runs an event loop of its own: await it*"])


def test_an_app_that_runs_a_loop_of_its_own_in_an_async_test_is_told_how_to_be_asked(loops: Shop) -> None:
    loops.pytester.makeconftest("import pytest, loops\n\n@pytest.fixture\ndef fc_model():\n    return loops.answer\n")
    loops.pytester.makepyfile(
        """
        import asyncio

        def test_hello(fc_model):
            async def hello():
                await fc_model.ask("hello")
            asyncio.run(hello())
        """
    )
    result = loops.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*the app runs an event loop of its own, and was called in an async test: *"])


def test_what_an_app_raises_in_the_middle_of_a_conversation_ends_its_case_alone(loops: Shop) -> None:
    loops.pytester.makepyfile(
        broken="""
        import pytest

        def answer(request):
            match request.messages[-1]["content"]:
                case "break":
                    raise StopIteration
                case "skip":
                    pytest.skip("not today")
                case said:
                    return said
        """
    )
    loops.cases(
        """
        cases:
          - {id: broken, turns: [{user: hello, answer: hello}, {user: break, answer: break}]}
          - {id: skipped, turns: [{user: hello, answer: hello}, {user: skip, answer: skip}]}
          - {id: sound, turns: [{user: hello, answer: hello}, {user: bye, answer: bye}]}
        """
    )
    loops.run("--fc-model=python:broken:answer").assert_outcomes(errors=2, passed=1)
