"""The event loop of this process in which the team's own apps are awaited, and how apps without `async` are called."""

from __future__ import annotations

import sys
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, NoReturn, TypeAlias, TypeVar

from pytest_fcall.core.backend import Backend
from pytest_fcall.core.pytest_outcome import is_pytest_outcome
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.request import Request
from pytest_fcall.session.endings import CaseError, EndedByApp

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Runner
    from collections.abc import Callable, Coroutine, Iterable

_T = TypeVar("_T")
AppCall: TypeAlias = "Callable[[Request], Reply | Coroutine[object, None, Reply]]"

_IN_ASYNC_TEST = "fc_model(…) cannot wait inside an async test: write `await fc_model.ask(…)`"


class AppLoop:
    """A loop that lasts as long as the session: clients of apps stay in the loop in which they were made.

    An app without `async` is called outside any event loop, since it may run one of its own. Where a coroutine in this
    loop wants such an app, the loop stops for it, and goes on with the result.
    """

    def __init__(self) -> None:
        self._runner: Runner | None = None
        self._outside: deque[Callable[[], None]] = deque()
        """The calls for which the loop has stopped."""

    def run(self, work: Coroutine[object, None, _T]) -> _T:
        """Run a coroutine in this thread, and wait."""
        try:
            loop = self._loop()
        except BaseException:  # CaseEnded is one; a coroutine that is not awaited warns
            work.close()
            raise
        task = loop.create_task(work)
        task.add_done_callback(lambda _: loop.stop())
        while not task.done():
            loop.run_forever()
            while self._outside:
                self._outside.popleft()()
        return task.result()

    def call(self, app: Backend, request: Request) -> Reply:
        """The reply of an app. An app that would end the test raises EndedByApp."""
        try:
            return self._called(app, request)
        except BaseException as error:
            if is_pytest_outcome(error):
                raise _ended_by_app(error) from None
            raise

    def _called(self, app: Backend, request: Request) -> Reply:
        call: AppCall | None = getattr(app, "call", None)
        if call is None:
            return self.run(app.complete(request))
        if _is_in_event_loop():
            raise CaseError(_IN_ASYNC_TEST)
        reply = call(request)
        return reply if isinstance(reply, Reply) else self.run(reply)

    async def call_async(self, app: Backend, request: Request) -> Reply:
        """The reply of an app, which is called within the loop of an async test, but outside of this one.

        An app that would end the test raises EndedByApp.
        """
        try:
            return await self._called_async(app, request)
        except BaseException as error:
            if is_pytest_outcome(error):
                raise _ended_by_app(error) from None
            raise

    async def _called_async(self, app: Backend, request: Request) -> Reply:
        from asyncio import get_running_loop

        call: AppCall | None = getattr(app, "call", None)
        ours = self._runner is not None and get_running_loop() is self._runner.get_loop()
        if call is None or not ours:
            return await app.complete(request)
        reply = await self._call_outside(partial(call, request))
        return reply if isinstance(reply, Reply) else await reply

    def close(self, apps: Iterable[Backend]) -> None:
        """Close apps in the loop in which they were used, and end it."""
        if self._runner is not None:
            for app in apps:
                self._runner.run(app.close())
            self._runner.close()

    async def _call_outside(self, call: Callable[[], _T]) -> _T:
        """Let `run` call something when it has stopped the loop, which goes on with the result."""
        from asyncio import get_running_loop
        from contextvars import copy_context

        loop, context = get_running_loop(), copy_context()
        done = loop.create_future()

        def called() -> None:
            try:
                result = context.run(call)
            except BaseException as error:  # it belongs to the one who waits: pytest's own ones are of this kind, too
                done.set_result(partial(_raise, error))
            else:
                done.set_result(lambda: result)

        self._outside.append(called)
        loop.stop()
        outcome: Callable[[], _T] = await done
        return outcome()

    def _loop(self) -> AbstractEventLoop:
        import asyncio

        if self._runner is None:
            # Not the loop of this thread: libraries that run one for apps without `async` keep clients in theirs.
            self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        if _is_in_event_loop():
            raise CaseError(_IN_ASYNC_TEST)
        return self._runner.get_loop()


def _ended_by_app(error: BaseException) -> EndedByApp:
    text = f"the app ended the test as only a test may, by {type(error).__name__}: {error}"
    return EndedByApp(text).with_traceback(error.__traceback__)


def _raise(error: BaseException) -> NoReturn:
    raise error


def _is_in_event_loop() -> bool:
    """Whether an event loop runs in this thread. Without asyncio none does, and most runs never import it."""
    if (asyncio := sys.modules.get("asyncio")) is None:
        return False
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
