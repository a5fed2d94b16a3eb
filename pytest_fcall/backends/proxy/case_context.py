"""The case that code in this process works on: carried into its threads, and named by the requests that it sends."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial, wraps
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, TypeAlias, TypeVar

from pytest_fcall.backends.proxy.case_lookup import CASE_HEADER, AppRuns, CaseMark
from pytest_fcall.backends.spans.variables import span_of_case, traceparent

_T = TypeVar("_T")
_Function: TypeAlias = Callable[..., Any]
_Change: TypeAlias = Callable[[_Function], _Function]
"""Makes a method of a library into one that knows cases."""

_MARK: ContextVar[CaseMark | None] = ContextVar("fcall_case_mark", default=None)
_NOBODYS_THREADS = ("fcall-", "Otel")
"""Prefixes of the names of threads that belong to no case: the plugin's own, and OpenTelemetry's exporters, which send
what happened in all cases and never end."""
_ARGUMENTS_BEFORE_ENV = 10
"""Of `subprocess.Popen`."""


class CaseWork:
    """Lets what is begun meanwhile belong to a case."""

    __slots__ = ("_mark", "_outer")

    def __init__(self, mark: CaseMark) -> None:
        self._mark: CaseMark | None = mark

    def __enter__(self) -> None:
        self._outer = _MARK.set(self._mark)
        self._mark = None  # a traceback keeps this object, and the mark is to live as long as the work

    def __exit__(self, *_: object) -> None:
        try:  # noqa: SIM105 - `suppress` takes three calls, and each case ends here
            _MARK.reset(self._outer)
        except ValueError:  # a fixture of an async test ends in another context
            pass


class CaseContext:
    """Carries cases into threads and processes, and names them on requests to the proxy, from `begin` to `end`.

    Tasks have the context of what began them anyway. A library is changed when it is imported, or as it is, and none is
    imported here. What works on no case does nothing otherwise than without this. With `spans`, what OpenTelemetry
    traces of a case is in the trace of the case, unless it is in another one anyway.
    """

    def __init__(self, runs: AppRuns, *, spans: bool = False) -> None:
        self._runs = runs
        self._spans = spans
        self._changed: list[tuple[type, str, _Function]] = []
        httpx = {"Client": {"send": self._send}, "AsyncClient": {"send": self._send_async}}
        self._modules: Mapping[str, Mapping[str, Mapping[str, _Change]]] = {
            "threading": {"Thread": {"start": _thread_start}},
            "concurrent.futures.thread": {"ThreadPoolExecutor": {"submit": _submit}},
            "multiprocessing.pool": {
                "ThreadPool": {"__init__": _outside_cases},
                "Pool": dict.fromkeys(("apply_async", "_map_async", "imap", "imap_unordered"), _hand_to_thread_pool),
            },
            "asyncio.runners": {"Runner": {"run": _runner_run}},
            "subprocess": {"Popen": {"__init__": self._start_process}},
            "http.client": {"HTTPConnection": {"putrequest": self._put_request}},
            "aiohttp.client": {"ClientSession": {"_request": self._aiohttp_request}},
            "httpx._client": httpx,
            "httpx2._client": httpx,
            **({"opentelemetry.sdk.trace": {"Tracer": {"start_span": _start_span}}} if spans else {}),
        }

    @staticmethod
    def work(mark: CaseMark) -> CaseWork:
        """Let what is begun meanwhile belong to the case of the mark."""
        return CaseWork(mark)

    def begin(self) -> None:
        """Change the libraries that are imported, and each of the others once it is."""
        sys.meta_path.insert(0, self)
        for name in self._modules:
            if module := sys.modules.get(name):
                self._change(module, name)

    def end(self) -> None:
        """Let all be as it was, but for what others have changed since."""
        with suppress(ValueError):
            sys.meta_path.remove(self)
        for owner, name, original in reversed(self._changed):
            if getattr(vars(owner).get(name), "__wrapped__", None) is original:
                setattr(owner, name, original)
        self._changed.clear()

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find one of the libraries where it is found anyway, to be changed when it has been imported."""
        if name not in self._modules:
            return None
        finders = [getattr(finder, "find_spec", None) for finder in sys.meta_path if finder is not self]
        spec: ModuleSpec | None = next(filter(None, (find(name, path, target) for find in finders if find)), None)
        if spec and spec.loader:
            execute = spec.loader.exec_module

            def execute_and_change(module: ModuleType) -> None:
                execute(module)
                self._change(module, name)

            spec.loader.exec_module = execute_and_change  # type: ignore[method-assign]
        return spec

    def _change(self, module: ModuleType, name: str) -> None:
        """Change the methods of a library that are there, each once."""
        known = {each[:2] for each in self._changed}
        for class_name, methods in self._modules[name].items():
            owner: Any = getattr(module, class_name, None)
            for method, change in methods.items():
                original = vars(owner).get(method) if owner else None
                if original is not None and (owner, method) not in known:
                    setattr(owner, method, wraps(original)(change(original)))
                    self._changed.append((owner, method, original))

    def _mark_for(self, *addresses: object) -> CaseMark | None:
        """The mark of the case that is worked on, if one of the addresses is the proxy's."""
        mark = _MARK.get()
        if mark is None:
            return None
        return mark if any(self._runs.in_process in str(address) for address in addresses) else None

    def _send(self, original: _Function) -> _Function:
        def send(client: Any, request: Any, *args: Any, **kwargs: Any) -> Any:
            if mark := self._mark_for(request.url):
                request.headers.setdefault(CASE_HEADER, mark.token)
            return original(client, request, *args, **kwargs)

        return send

    def _send_async(self, original: _Function) -> _Function:
        async def send(client: Any, request: Any, *args: Any, **kwargs: Any) -> Any:
            if mark := self._mark_for(request.url):
                request.headers.setdefault(CASE_HEADER, mark.token)
            return await original(client, request, *args, **kwargs)

        return send

    def _aiohttp_request(self, original: _Function) -> _Function:
        async def request(session: Any, method: str, url: Any, **kwargs: Any) -> Any:
            if mark := self._mark_for(url, getattr(session, "_base_url", "")):
                from multidict import CIMultiDict

                headers = CIMultiDict(kwargs.get("headers") or ())
                headers.setdefault(CASE_HEADER, mark.token)
                kwargs["headers"] = headers
            return await original(session, method, url, **kwargs)

        return request

    def _put_request(self, original: _Function) -> _Function:
        def putrequest(connection: Any, method: str, url: str, *args: Any, **kwargs: Any) -> None:
            original(connection, method, url, *args, **kwargs)
            if mark := self._mark_for(url):
                connection.putheader(CASE_HEADER, mark.token)

        return putrequest

    def _start_process(self, original: _Function) -> _Function:
        """A process works on the case in which it is started, and has the addresses of that case alone."""

        def start(process: Any, *args: Any, **kwargs: Any) -> None:
            environment = kwargs.get("env") or os.environ
            if len(args) <= _ARGUMENTS_BEFORE_ENV and (mark := self._mark_for(*environment.values())):
                self._runs.keep(mark)
                kwargs["env"] = {
                    name: value.replace(self._runs.in_process, mark.token) if isinstance(value, str) else value
                    for name, value in environment.items()
                }
                if self._spans:
                    kwargs["env"].setdefault("TRACEPARENT", traceparent(mark.token))
            original(process, *args, **kwargs)

        return start


def _thread_start(original: _Function) -> _Function:
    def start(thread: threading.Thread) -> None:
        mark = _MARK.get()
        if mark is None or thread.name.startswith(_NOBODYS_THREADS):
            original(thread)
            return
        run = thread.run

        def run_for_case() -> None:
            vars(thread).pop("run", None)
            _MARK.set(mark)
            run()

        thread.run = run_for_case  # type: ignore[method-assign]  # `run` itself may be of any subclass
        try:
            original(thread)
        except BaseException:
            vars(thread).pop("run", None)
            raise

    return start


def _submit(original: _Function) -> _Function:
    def submit(executor: Any, function: _Function, /, *args: Any, **kwargs: Any) -> Any:
        mark = _MARK.get()
        if mark is None:
            return original(executor, function, *args, **kwargs)
        with _no_case():  # a thread that is started for this will work for others
            return original(executor, partial(_run_for_case, mark, function), *args, **kwargs)

    return submit


def _start_span(original: _Function) -> _Function:
    def start_span(tracer: Any, name: str, context: Any = None, *args: Any, **kwargs: Any) -> Any:
        if mark := _MARK.get():
            context = _in_trace(mark.token, context)
        return original(tracer, name, context, *args, **kwargs)

    return start_span


def _in_trace(token: str, context: Any) -> Any:
    """The context of OpenTelemetry, in the trace of a case if it is in none yet."""
    trace = sys.modules["opentelemetry.trace"]
    if trace.get_current_span(context).get_span_context().is_valid:
        return context
    ids = int(token, 16), int(span_of_case(token), 16)
    parent = trace.SpanContext(*ids, is_remote=True, trace_flags=trace.TraceFlags(trace.TraceFlags.SAMPLED))
    return trace.set_span_in_context(trace.NonRecordingSpan(parent), context)


def _outside_cases(original: _Function) -> _Function:
    def call(*args: Any, **kwargs: Any) -> Any:
        with _no_case():
            return original(*args, **kwargs)

    return call


def _hand_to_thread_pool(original: _Function) -> _Function:
    def hand(pool: Any, function: _Function, *args: Any, **kwargs: Any) -> Any:
        mark = _MARK.get()
        if mark is not None and isinstance(pool, sys.modules["multiprocessing.pool"].ThreadPool):
            function = partial(_run_for_case, mark, function)
        return original(pool, function, *args, **kwargs)

    return hand


def _runner_run(original: _Function) -> _Function:
    def run(runner: Any, *args: Any, **kwargs: Any) -> Any:
        _set_in(runner, _MARK.get())
        try:
            return original(runner, *args, **kwargs)
        finally:
            _set_in(runner, None)

    return run


def _set_in(runner: Any, mark: CaseMark | None) -> None:
    """A runner has one context for all that it runs, as it was when it ran something first."""
    context = getattr(runner, "_context", None)
    if context is not None:
        with suppress(RuntimeError):  # it is in use
            context.run(_MARK.set, mark)


def _run_for_case(mark: CaseMark, function: Callable[..., _T], /, *args: Any, **kwargs: Any) -> _T:
    outer = _MARK.set(mark)
    try:
        return function(*args, **kwargs)
    finally:
        _MARK.reset(outer)


@contextmanager
def _no_case() -> Iterator[None]:
    outer = _MARK.set(None)
    try:
        yield
    finally:
        _MARK.reset(outer)
