from __future__ import annotations

import asyncio
import gc
import inspect
import threading
import weakref
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import replace

import pytest

from pytest_fcall.backends.dispatch.dispatcher import Dispatcher
from pytest_fcall.backends.dispatch.job import AnsweredJob, DispatchLimits
from pytest_fcall.core import CaseRefused, ModelUnavailable, Reply, Request, Unanswered, Usage
from tests.unit.backends.dispatch.conftest import Start
from tests.unit.backends.dispatch.far_ledger import FarLedger
from tests.unit.backends.dispatch.support import (
    JumpingClock,
    Run,
    Scripted,
    Silent,
    broken,
    busy,
    job,
    jobs,
    nowhere,
    said,
)


def thread_of(dispatcher: Dispatcher) -> threading.Thread:
    """The thread of the loop; dispatchers of other tests have theirs."""

    async def current() -> threading.Thread:
        return threading.current_thread()

    return dispatcher.run(current()).result(10)


def test_every_job_gets_its_own_reply(run: Run) -> None:
    assert run.ask(jobs(200, Scripted())) == [str(number) for number in range(200)]


def test_a_reply_is_handed_over_in_the_thread_of_the_loop_before_anybody_waiting_goes_on() -> None:
    seen: list[tuple[bool, threading.Thread]] = []
    futures: list[Future[Reply]] = []
    submitted = threading.Event()

    def on_replies(arrivals: Sequence[AnsweredJob]) -> None:
        submitted.wait(10)
        seen.append((futures[0].done(), threading.current_thread()))

    with closing(Dispatcher(DispatchLimits(), on_replies)) as dispatcher:
        futures.append(dispatcher.submit(job("x", Scripted())))
        submitted.set()
        futures[0].result(10)
    [(done, thread)] = seen
    assert not done
    assert thread.daemon
    assert thread.name == "fcall-dispatch"


def test_a_reply_that_has_arrived_is_handed_over_even_if_the_dispatcher_is_closed_that_moment() -> None:
    seen: list[str] = []
    arrived = threading.Event()

    class Telling(Scripted):
        async def complete(self, request: Request) -> Reply:
            asyncio.get_running_loop().call_soon(arrived.set)
            return await super().complete(request)

    dispatcher = Dispatcher(DispatchLimits(), lambda arrivals: seen.extend(said(job.request) for job, _ in arrivals))
    future = dispatcher.submit(job("x", Telling()))
    arrived.wait(10)
    dispatcher.close()
    assert seen == ["x"]
    assert future.done()


def test_what_is_raised_over_a_reply_that_cannot_be_kept_goes_to_who_waits() -> None:
    def on_replies(arrivals: Sequence[AnsweredJob]) -> None:
        raise OSError("no space left")

    with closing(Dispatcher(DispatchLimits(), on_replies)) as dispatcher:
        assert isinstance(dispatcher.submit(job("x", Scripted())).exception(10), OSError)
        assert (dispatcher.progress().done, dispatcher.progress().failed) == (0, 1)


def test_no_more_requests_are_on_their_way_than_allowed_and_all_of_those(start: Start) -> None:
    backend = Scripted()
    start(DispatchLimits(concurrency=7)).ask(jobs(100, backend))
    assert backend.most == 7


def test_the_limit_holds_for_all_models_together(start: Start) -> None:
    backend = Scripted()
    start(DispatchLimits(concurrency=5)).ask([*jobs(50, backend, "openai:a"), *jobs(50, backend, "openai:b")])
    assert backend.most == 5


def test_the_same_request_is_asked_once_from_many_threads_before_and_after_its_reply(run: Run) -> None:
    backend = Scripted()
    with ThreadPoolExecutor(8) as threads:
        futures = list(threads.map(lambda number: run.dispatcher.submit(job(str(number % 10), backend)), range(400)))
    wait(futures, 10)
    assert run.ask(jobs(10, backend)) == [str(number) for number in range(10)]
    assert sorted(backend.asked) == [str(number) for number in range(10)]
    assert run.dispatcher.progress().submitted == 10


def test_a_reply_that_is_let_go_is_asked_for_anew(run: Run) -> None:
    backend = Scripted()
    run.ask(jobs(2, backend))
    run.dispatcher.forget(job("0", backend).digest)
    run.dispatcher.forget("never submitted")
    assert run.ask(jobs(2, backend)) == ["0", "1"]
    assert backend.asked == ["0", "1", "0"]


def test_what_failed_is_asked_anew_when_it_is_submitted_again(run: Run) -> None:
    backend = Scripted(CaseRefused("too long"))
    [error] = run.ask([job("x", backend)])
    assert isinstance(error, CaseRefused)
    assert run.ask([job("x", backend)]) == ["x"]


def test_a_request_that_was_refused_is_not_asked_again_and_hinders_no_other(run: Run) -> None:
    backend = Scripted(CaseRefused("too long"))
    error, *others = run.ask(jobs(10, backend))
    assert str(error) == "too long"
    assert others == [str(number) for number in range(1, 10)]
    assert len(backend.asked) == 10


@pytest.mark.parametrize("error", [KeyError("x"), TimeoutError("its own"), SystemExit(3)], ids=repr)
def test_any_other_failure_comes_as_it_is_and_the_work_goes_on(run: Run, error: BaseException) -> None:
    backend = Scripted(error)
    assert run.ask(jobs(3, backend)) == [error, "1", "2"]


def test_a_back_end_that_cancels_itself_leaves_nobody_waiting(run: Run) -> None:
    with pytest.raises(CancelledError):
        run.dispatcher.submit(job("x", Scripted(asyncio.CancelledError()))).result(10)


def test_a_model_that_is_unavailable_fails_all_that_waits_for_it_and_no_other(start: Start) -> None:
    run = start(DispatchLimits(concurrency=2))
    bad, good = Scripted(*[ModelUnavailable("bad key: set OPENAI_API_KEY") for _ in range(9)]), Scripted()
    results = run.ask([*jobs(50, bad, "openai:bad"), *jobs(50, good, "openai:good")])
    assert [str(error) for error in results[:50]] == ["bad key: set OPENAI_API_KEY"] * 50
    assert all(isinstance(error, ModelUnavailable) for error in results[:50])
    assert len({id(error) for error in results[:50]}) == 50
    assert results[50:] == [str(number) for number in range(50)]
    assert len(bad.asked) <= 2


def test_a_model_that_is_unavailable_is_not_asked_later_either(run: Run) -> None:
    backend = Scripted(ModelUnavailable("no quota"))
    run.ask([job("first", backend)])
    [error] = run.ask([job("second", backend)])
    assert isinstance(error, ModelUnavailable)
    assert backend.asked == ["first"]


def test_a_model_that_is_unavailable_also_fails_what_waits_to_be_asked_again() -> None:
    class Resting:
        """Wakes nobody, ever."""

        def wall(self) -> float:
            return 0.0

        monotonic = wall

        def call_later(self, delay: float, callback: object) -> None:
            rests.set()

    rests = threading.Event()
    backend = Scripted(broken(), ModelUnavailable("no quota"))
    with closing(Dispatcher(DispatchLimits(), nowhere, clock=Resting())) as dispatcher:
        first = dispatcher.submit(job("first", backend))
        assert rests.wait(10)
        second = dispatcher.submit(job("second", backend))
        assert [str(first.exception(10)), str(second.exception(10))] == ["no quota"] * 2


def test_a_request_without_a_reply_in_time_is_asked_for_again(start: Start) -> None:
    class FirstSilent(Silent):
        async def answer(self, request: Request) -> Reply:
            return await super().answer(request) if len(self.asked) == 1 else Reply("at last")

    run = start(DispatchLimits(timeout=0.01))
    backend = FirstSilent()
    assert run.ask([job("x", backend)]) == ["at last"]
    assert backend.cancelled == 1


def test_a_request_that_never_gets_a_reply_in_time_fails_in_words(start: Start) -> None:
    [error] = start(DispatchLimits(timeout=0.01, retries=1)).ask([job("x", Silent())])
    assert isinstance(error, Unanswered)
    assert str(error) == "no reply within 0.01 s (2 attempts)"


def test_all_can_be_given_up_at_once_and_more_be_asked(run: Run) -> None:
    silent = Silent()
    futures = [run.dispatcher.submit(each) for each in jobs(100, silent)]
    run.dispatcher.cancel_all()
    assert all(future.cancelled() for future in futures)
    assert not wait(futures, 0).not_done
    assert run.ask(jobs(3, Scripted())) == ["0", "1", "2"]
    assert silent.cancelled == len(silent.asked)


def test_requests_on_their_way_are_given_up_too() -> None:
    arrived = threading.Event()

    class Reached(Silent):
        async def answer(self, request: Request) -> Reply:
            arrived.set()
            return await super().answer(request)

    backend = Reached()
    with closing(Dispatcher(DispatchLimits(concurrency=1), nowhere)) as dispatcher:
        futures = [dispatcher.submit(each) for each in jobs(3, backend)]
        assert arrived.wait(10)
        dispatcher.cancel_all()
        assert all(future.cancelled() for future in futures)
        assert dispatcher.submit(job("after", Scripted())).result(10).text == "after"
        assert dispatcher.progress().in_flight == 0
    assert (backend.asked, backend.cancelled) == (["0"], 1)


def test_what_its_owner_no_longer_waits_for_is_kept_and_can_be_submitted_again(run: Run) -> None:
    with run.at_rest():
        unwanted = run.dispatcher.submit(job("x", Scripted()))
        assert unwanted.cancel()
        wanted = run.dispatcher.submit(job("x", Scripted()))
    assert wanted.result(10).text == "x"
    assert run.replied == ["x", "x"]


def test_a_reply_outlasts_a_later_failure_of_the_same_request(run: Run) -> None:
    class Late(Scripted):
        async def answer(self, request: Request) -> Reply:
            while not run.replied:
                await asyncio.sleep(0)
            for _ in range(5):
                await asyncio.sleep(0)
            raise CaseRefused("no")

    with run.at_rest():
        assert run.dispatcher.submit(job("x", Scripted())).cancel()
        failed = run.dispatcher.submit(job("x", Late()))
    assert isinstance(failed.exception(10), CaseRefused)
    assert run.dispatcher.submit(job("x", Late())).result(10).text == "x"


def test_closing_gives_up_what_is_open_closes_back_ends_in_their_loop_and_ends_the_thread() -> None:
    loops: list[asyncio.AbstractEventLoop] = []

    class Kept(Silent):
        async def answer(self, request: Request) -> Reply:
            loops.append(asyncio.get_running_loop())
            return Reply() if said(request) == "good" else await super().answer(request)

        async def close(self) -> None:
            loops.append(asyncio.get_running_loop())
            raise OSError("closing fails, too")

    dispatcher = Dispatcher(DispatchLimits(), nowhere)
    backend = Kept()
    dispatcher.submit(job("good", backend)).result(10)
    open_ = dispatcher.submit(job("bad", backend))
    thread = thread_of(dispatcher)
    dispatcher.close()
    dispatcher.close()
    thread.join(10)
    assert open_.cancelled()
    assert len(set(loops)) == 1
    assert loops[0].is_closed()
    assert not thread.is_alive()


def test_closing_lets_requests_and_back_ends_end_in_a_moment_and_lets_go_of_the_ledger() -> None:
    ended: list[str] = []
    started = threading.Event()

    class Slow(Scripted):
        async def answer(self, request: Request) -> Reply:
            started.set()
            try:
                await asyncio.Event().wait()
                raise AssertionError
            finally:
                for _ in range(9):
                    await asyncio.sleep(0)
                ended.append("request")

        async def close(self) -> None:
            await asyncio.sleep(0)
            ended.append("back end")

    ledger = FarLedger()
    dispatcher = Dispatcher(DispatchLimits(shared=ledger), nowhere)
    dispatcher.submit(job("x", Slow()))
    assert started.wait(10)
    dispatcher.close()
    assert ended == ["request", "back end"]
    with pytest.raises(RuntimeError, match="shutdown"):
        ledger.submit_read("rate of openai:exam")


@pytest.mark.parametrize("refused", [0, 1])
def test_what_becomes_of_a_request_that_its_owner_has_given_up_is_no_error(
    run: Run, refused: int, caplog: pytest.LogCaptureFixture
) -> None:
    with run.at_rest():
        # An error that outlived the request would keep its task, which tells of what it raised when it is collected.
        assert run.dispatcher.submit(job("x", Scripted(*(CaseRefused("too long") for _ in range(refused))))).cancel()
    assert run.ask([job("after", Scripted())]) == ["after"]
    run.dispatcher.close()
    gc.collect()
    assert caplog.records == []
    assert (run.dispatcher.progress().done, run.dispatcher.progress().failed) == (2 - refused, refused)


def test_a_reply_that_comes_when_all_was_given_up_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    dispatcher = Dispatcher(DispatchLimits(), lambda _: dispatcher.cancel_all())
    future = dispatcher.submit(job("x", Scripted()))
    wait([future], 10)
    dispatcher.close()
    gc.collect()
    assert future.cancelled()
    assert caplog.records == []


def test_threads_of_the_loop_are_known_by_their_name(run: Run) -> None:
    async def work() -> str:
        return await asyncio.to_thread(lambda: threading.current_thread().name)

    assert run.dispatcher.run(work()).result(10).startswith("fcall-dispatch")


def test_of_a_job_that_is_answered_no_task_is_kept(run: Run) -> None:
    tasks: list[weakref.ref[asyncio.Task[object]]] = []

    class Watched(Scripted):
        async def answer(self, request: Request) -> Reply:
            if task := asyncio.current_task():
                tasks.append(weakref.ref(task))
            return await super().answer(request)

    run.ask([job("x", Watched())])
    thread_of(run.dispatcher)  # its loop has gone on since
    gc.collect()
    assert [task() for task in tasks] == [None]


def test_after_closing_there_is_nothing_to_give_up(run: Run) -> None:
    run.ask([job("x", Scripted())])
    thread = thread_of(run.dispatcher)
    run.dispatcher.close()
    thread.join(10)
    run.dispatcher.cancel_all()


def test_closing_waits_for_nobody_who_refuses_to_end() -> None:
    release = threading.Event()
    started = threading.Event()

    class Stubborn(Scripted):
        async def answer(self, request: Request) -> Reply:
            started.set()
            release.wait(10)
            return Reply()

    dispatcher = Dispatcher(DispatchLimits(), nowhere)
    thread = thread_of(dispatcher)
    future = dispatcher.submit(job("x", Stubborn()))
    assert started.wait(10)
    dispatcher.close()
    assert future.cancelled()
    release.set()
    thread.join(10)


def test_closing_takes_a_second_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float | None] = []
    dispatcher = Dispatcher(DispatchLimits(), nowhere)
    thread = thread_of(dispatcher)
    with monkeypatch.context() as patched:
        patched.setattr(thread, "join", waits.append)
        dispatcher.close()
    thread.join(10)
    assert [wait is not None and 0 < wait <= 1 for wait in waits] == [True]


def test_other_work_runs_in_the_loop_of_the_jobs_and_not_after_closing(run: Run) -> None:
    async def work() -> str:
        reply = await asyncio.wrap_future(run.dispatcher.submit(job("x", Scripted())))
        return f"{reply.text} in {threading.current_thread().name}"

    assert run.dispatcher.run(work()).result(10) == "x in fcall-dispatch"
    run.dispatcher.close()
    late = work()
    with pytest.raises(RuntimeError, match="closed"):
        run.dispatcher.run(late)
    assert inspect.getcoroutinestate(late) == inspect.CORO_CLOSED


def test_a_closed_dispatcher_takes_no_jobs_and_one_without_jobs_has_no_thread() -> None:
    others = {*threading.enumerate()}
    dispatcher = Dispatcher(DispatchLimits(), nowhere)
    dispatcher.cancel_all()
    dispatcher.close()
    with pytest.raises(RuntimeError, match="closed"):
        dispatcher.submit(job("x", Scripted()))
    assert not [thread for thread in {*threading.enumerate()} - others if thread.name == "fcall-dispatch"]


def test_figures_tell_how_far_the_work_is(run: Run) -> None:
    used = [Usage(input_tokens=20, output_tokens=10), Usage(input_tokens=5), Usage(output_tokens=3)]
    backend = Scripted(*(Reply("x", usage=each) for each in used), CaseRefused("no"), broken(), busy())
    run.ask(jobs(6, backend))
    figures = run.dispatcher.progress()
    assert (figures.submitted, figures.in_flight, figures.done, figures.failed) == (6, 0, 5, 1)
    assert (figures.retried, figures.input_tokens, figures.output_tokens) == (2, 25, 13)


def test_a_reply_is_handed_over_once_though_many_wait_for_it(run: Run) -> None:
    run.ask([job("x", Scripted())] * 5)
    assert run.replied == ["x"]


def test_nothing_is_left_to_complain_about_when_all_is_over() -> None:
    with closing(Dispatcher(DispatchLimits(concurrency=2), nowhere)) as dispatcher:
        futures = [dispatcher.submit(each) for each in jobs(20, Scripted(*[ModelUnavailable("gone")] * 20))]
        dispatcher.cancel_all()
        wait(futures, 10)
    gc.collect()


def test_each_attempt_that_may_be_billed_without_a_reply_is_noted() -> None:
    lost, noted = Unanswered("the connection broke", billable=True), list[str]()
    backend = Scripted(lost, lost, Unanswered("no connection"))
    dispatcher = Dispatcher(
        DispatchLimits(retries=2),
        nowhere,
        clock=JumpingClock(),
        on_unpriced=lambda job: noted.append(said(job.request)),
    )
    with closing(dispatcher):
        assert isinstance(dispatcher.submit(job("a", backend)).exception(10), Unanswered)
    assert noted == ["a", "a"]


def test_a_request_whose_reply_is_not_awaited_any_longer_may_be_billed() -> None:
    noted = list[str]()
    dispatcher = Dispatcher(
        DispatchLimits(timeout=0.01, retries=0), nowhere, on_unpriced=lambda job: noted.append(said(job.request))
    )
    with closing(dispatcher):
        assert isinstance(dispatcher.submit(job("a", Silent())).exception(10), Unanswered)
    assert noted == ["a"]


class Claimed:
    """A request that another process has sent, or that is ours to send where it has no reply."""

    def __init__(self, reply: Reply | None) -> None:
        self.released = 0
        self._reply = reply

    async def reply(self) -> Reply | None:
        return self._reply

    def release(self) -> None:
        self.released += 1


def test_the_reply_of_another_process_is_the_reply_and_nobody_is_asked() -> None:
    backend, claim = Scripted(), Claimed(Reply("from elsewhere"))
    with closing(Dispatcher(DispatchLimits(), nowhere)) as dispatcher:
        assert dispatcher.submit(replace(job("a", backend), claim=claim)).result(10).text == "from elsewhere"
    assert (backend.asked, claim.released) == ([], 0)


def test_where_a_claimed_request_fails_its_error_is_raised_and_another_process_may_send_it() -> None:
    claim = Claimed(None)
    with closing(Dispatcher(DispatchLimits(), nowhere)) as dispatcher:
        failed = dispatcher.submit(replace(job("a", Scripted(CaseRefused("too long"))), claim=claim))
        assert str(failed.exception(10)) == "too long"
    assert claim.released == 1
