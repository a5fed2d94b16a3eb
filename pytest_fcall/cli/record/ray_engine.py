"""`fcall record --engine=ray`: the open requests are answered by a cluster, round by round."""

from __future__ import annotations

import os
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from pytest_fcall.backends.cluster.answerer import AskedModel, Assignment, is_complete_row, without_origins
from pytest_fcall.cli.command_parser import command_parser
from pytest_fcall.cli.record.engine import answer, find_open_requests
from pytest_fcall.cli.record.plan_run import (
    OPEN,
    PlannedCases,
    PlanRun,
    exit_status,
    planned_cases,
    print_not_planned,
    print_problem,
    print_some,
)
from pytest_fcall.core.backend import ModelUnavailable
from pytest_fcall.core.files import PRIVATE_FOLDER
from pytest_fcall.core.json_data import read_json
from pytest_fcall.core.message_text import plural_text
from pytest_fcall.session.ask.open_requests import OpenRequest
from pytest_fcall.session.offline.intake import Intake, ReplyRow
from pytest_fcall.session.offline.plan import PlanWriter

if TYPE_CHECKING:
    from pytest_fcall.backends.costs import Price
    from pytest_fcall.cli.record.ray_cluster import Cluster
    from pytest_fcall.core.backend import Backend
    from pytest_fcall.core.storage import Folder
    from pytest_fcall.core.values import Json

_PLAN: Final = "plan-{}.parquet"
_EXAMPLES: Final = """\
examples:
  fcall record --engine=ray cases/ --fc-model=openai:gpt-5.2
  fcall record --engine=ray --address=auto --checkpoint=s3://bucket/run-7 --actors=2:16 --env=OPENAI_API_KEY
  fcall record --engine=ray -- -k shop --fc-samples=5

Replies are written into the checkpoint as they come, and recorded here. After whatever stops it, the same command goes
on. Conversations go on until nothing is open.

exit status: 0 done; 1 something went wrong, or is not taken; 2 nothing could begin; 10 requests are open still.
"""


def record_by_ray(arguments: Sequence[str], for_pytest: Sequence[str]) -> int:
    """Answer all open requests; 1 where something went wrong, 2 where nothing could begin, 10 with open requests."""
    from pytest_fcall.cli.ray_library import ClusterError, ray_library

    parser = _parser()
    options = parser.parse_args(arguments)
    cases = planned_cases(parser, options, for_pytest)
    if missing := [name for name in options.env if name not in os.environ]:
        parser.error(f"--env: {missing[0]} is not set here")
    if options.vllm_option and not options.vllm:
        parser.error("--vllm-option can only be used with --vllm")
    try:
        ray_library()  # before the plan, which may take long
        return exit_status(lambda: _answer(cases, options))
    except ClusterError as error:
        print_problem(str(error))
        return 1
    except OSError as error:
        print_problem(f"{f'{error.filename}: ' if error.filename else ''}{error.strerror or error}")
        return 1


def _parser() -> ArgumentParser:
    parser = command_parser(
        "record --engine=ray", "Have the requests that no recording answers answered by a cluster of Ray.", _EXAMPLES
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders (default: this folder)")
    parser.add_argument("--engine", choices=("ray",), required=True, help="the engine")
    parser.add_argument(
        "--fc-model",
        action="append",
        default=[],
        metavar="KIND:NAME",
        help="the model (repeatable; default: the configured ones)",
    )
    parser.add_argument(
        "--fc-max-cost", metavar="DOLLARS", help="send no request that could pass this sum, of all nodes together"
    )
    parser.add_argument(
        "--address", metavar="HOST:PORT", help="the cluster, or auto (default: RAY_ADDRESS, else one on this machine)"
    )
    parser.add_argument(
        "--checkpoint",
        metavar="FOLDER",
        help="where all nodes write replies as they come: a path, or an address such as s3://bucket/folder (default: "
        ".fcall/ray); replies that are there are taken, and their requests not sent again",
    )
    parser.add_argument(
        "--actors",
        type=_actor_range,
        default=(1, 4),
        metavar="N|MIN:MAX",
        help="how many processes answer; Ray adds nodes for them where it can (default: 1:4)",
    )
    parser.add_argument(
        "--actor-cpus", type=_share, default=0.25, metavar="N", help="CPUs that each of them takes (default: 0.25)"
    )
    parser.add_argument(
        "--actor-gpus", type=_share, default=0.0, metavar="N", help="GPUs that each of them takes (default: 0)"
    )
    parser.add_argument(
        "--env",
        action="append",
        default=[],
        metavar="NAME",
        help="hand this variable on to the nodes, such as the key of a provider (repeatable)",
    )
    parser.add_argument(
        "--vllm", action="store_true", help="answer for a local: model by vLLM, which ray.data.llm runs on GPUs"
    )
    parser.add_argument(
        "--vllm-option",
        type=_vllm_option,
        action="append",
        default=[],
        metavar="NAME=JSON",
        help="with --vllm: an argument of its engine, such as tensor_parallel_size=2 (repeatable)",
    )
    return parser


def _vllm_option(text: str) -> tuple[str, Json]:
    name, sign, value = text.partition("=")
    if not sign or not name.isidentifier():
        raise ArgumentTypeError(f"must be NAME=JSON, such as tensor_parallel_size=2, not {text!r}")
    try:
        return name, read_json(value)
    except ValueError:
        return name, value


def _actor_range(text: str) -> tuple[int, int]:
    """The smallest and the largest number of actors in `4`, or `1:4`. Raises ArgumentTypeError."""
    least, _, most = text.partition(":")
    numbers = least, most or least
    if all(each.isdecimal() and len(each) < 6 for each in numbers) and 1 <= int(numbers[0]) <= int(numbers[1]):
        return int(numbers[0]), int(numbers[1])
    raise ArgumentTypeError(f"must be a number from 1 on, or two such as 1:4, not {text!r}")


def _share(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if 0 <= number < 10_000:
        return number
    raise ArgumentTypeError(f"must be a number, 0 or greater, not {text!r}")


class _Parts:
    """The parts of a round on their way into the recordings."""

    def __init__(self, folder: Folder, intake: Intake) -> None:
        self._folder = folder
        self._intake = intake
        self.whole: list[str] = []
        """Those whose replies were all taken."""
        self.read = 0
        """The number of parts that were read."""

    def take_all(self, names: Iterable[str]) -> None:
        """Take the replies in some parts."""
        for name in names:
            self.take(name)

    def take(self, name: str, *, errors: bool = True) -> None:
        """Take the replies in a part."""
        before = len(self._intake.refused)
        self._intake.take(row for row in _rows_of(self._folder, name) if errors or "error" not in row.data)
        self.read += 1
        if len(self._intake.refused) == before:
            self.whole.append(name)


def _answer(cases: PlannedCases, options: Namespace) -> int:
    plan = find_open_requests(cases, "ray")
    with _RayEngine(options, _checkpoint(options, plan)) as engine:
        plan = answer(engine, cases, plan)
    return engine.status(plan)  # the last words are ours, not those of Ray


def _checkpoint(options: Namespace, plan: PlanRun) -> Folder:
    """The folder of the replies, which is there from now on."""
    from pytest_fcall.backends.cluster.answerer import MARK
    from pytest_fcall.core.storage import Folder

    folder = Folder(options.checkpoint or str(plan.settings.root / PRIVATE_FOLDER / "ray"))
    folder.make()
    folder.write(MARK, b"")
    return folder


class _Sent(NamedTuple):
    """A plan that is to be answered."""

    number: int
    name: str
    writer: PlanWriter
    requests: Sequence[OpenRequest]


class _RayEngine:
    """A cluster, which is connected when something is open, and the folder into which it writes replies."""

    def __init__(self, options: Namespace, folder: Folder) -> None:
        self._options = options
        self._folder = folder
        self._failed: dict[str, str] = {}
        """The reasons why there is no reply, by digest; such a request is not sent again by the same command."""
        self._refused: list[str] = []
        self._sent: _Sent | None = None
        self._cluster: Cluster | None = None
        self._open = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def take(self, plan: PlanRun) -> Mapping[int, int]:
        """Have what was sent answered, to its end; before anything is sent, take replies that are there already."""
        if (sent := self._sent) is not None:
            self._sent = None
            return {sent.number: self._answered(plan, sent)}
        return {0: taken} if self._cluster is None and (taken := self._earlier(plan)) else {}

    def unsent(self, plan: PlanRun) -> Sequence[OpenRequest]:
        """The open requests that have not failed."""
        return [each for each in plan.requests if each.first.digest not in self._failed]

    def send(self, plan: PlanRun, requests: Sequence[OpenRequest], number: int) -> int:
        """Write the plan where all nodes read it."""
        self._connected(plan)
        writer, name = PlanWriter(plan.settings.root, plan.settings.secrets), _PLAN.format(number)
        writer.write_into(self._folder, name, requests, "fcall")
        self._sent = _Sent(number, name, writer, requests)
        return len(requests)

    def rounds_under_way(self) -> Collection[int]:
        """None: a round ends with the look that takes its replies."""
        return ()

    def waits(self) -> bool:
        """It waits while it takes replies."""
        return False

    def status(self, plan: PlanRun) -> int:
        """Say what is left; the exit status."""
        print_not_planned(plan.problems, plan.requests.apps)
        still = [*plan.requests]
        askers = {each.first.digest: each.first for each in still}
        lines = [
            f"{askers[digest].asker.again}: {askers[digest].source.id}: no reply: {why}"
            for digest, why in self._failed.items()
            if digest in askers
        ]
        print_some(lines, "requests without a reply")
        print_some([f"not taken: {line}" for line in self._refused], "replies that are not taken")
        print(f"{plural_text(len(still), 'request')} open" if still else "nothing is open")
        if self._refused or plan.problems:
            return 1
        return OPEN if still else 0

    def _earlier(self, plan: PlanRun) -> int:
        """Take the replies that are there already: of a run that was killed, or of one that others have made."""
        from pytest_fcall.backends.cluster.answerer import part_names

        intake = Intake(plan.requests, plan.settings)
        parts = _Parts(self._folder, intake)
        try:
            for name in part_names(self._folder):
                parts.take(name, errors=False)
        finally:
            _close(intake)
        self._forget(parts)
        if intake.taken:
            print(f"{plural_text(intake.taken, 'reply', 'replies')} of an earlier run taken from {self._folder.title}")
        return intake.taken

    def _answered(self, plan: PlanRun, sent: _Sent) -> int:
        """Have a plan answered, and take the replies as they come; gives their number."""
        cluster = self._connected(plan)
        client, intake = cluster.client, Intake(plan.requests, plan.settings)
        parts = _Parts(self._folder, intake)
        client.new_round()
        try:
            for _ in self._answers(plan, sent, cluster) if sent.writer.written else ():
                parts.take_all(client.parts_after(parts.read))
            parts.take_all(client.parts_after(parts.read))
        finally:
            _close(intake)
        self._forget(parts)
        self._folder.remove(sent.name)
        self._note(intake, sent.writer)
        requests, replies = plural_text(len(sent.requests), "request"), plural_text(intake.taken, "reply", "replies")
        print(f"round {sent.number}: {requests}, {replies}")
        return intake.taken

    def _connected(self, plan: PlanRun) -> Cluster:
        """The cluster, which the first call connects."""
        if self._cluster is None:
            from pytest_fcall.cli.record.ray_cluster import ActorPool, connect_cluster, node_count, ship_by_value

            least, most = self._options.actors
            pool = ActorPool(least, most, self._options.actor_cpus, self._options.actor_gpus)
            self._cluster = self._open.enter_context(connect_cluster(self._options.address, pool, plan.settings))
            ship_by_value(plan.factories, plan.settings.root)
            print(f"ray: {plural_text(node_count(), 'node')}, up to {plural_text(pool.most, 'actor')}")
        return self._cluster

    def _answers(self, plan: PlanRun, sent: _Sent, cluster: Cluster) -> Iterator[int]:
        """The answers to a plan, from backends in actors or from vLLM."""
        assignment = self._assignment(plan, sent.requests, cluster)
        if not self._options.vllm:
            return cluster.answered(sent.name, sent.writer.written, assignment)
        from pytest_fcall.backends.local.vllm import VllmRows
        from pytest_fcall.cli.ray_library import ClusterError

        models = [asked.model for asked in assignment.models.values()]
        if len(models) != 1 or models[0].kind != "local":
            raise ClusterError("--vllm answers for one model of the kind local: name it with --fc-model=local:NAME")
        try:
            rows = VllmRows.of(models[0], plan.settings.root)
        except ModelUnavailable as error:
            raise ClusterError(str(error)) from None
        options = dict(self._options.vllm_option)
        return cluster.answered_by_vllm(sent.name, sent.writer.written, assignment, rows, options)

    def _assignment(self, plan: PlanRun, wanted: Iterable[OpenRequest], cluster: Cluster) -> Assignment:
        from pytest_fcall.backends.cluster.answerer import package_version

        settings, models = plan.settings, dict[str, AskedModel]()
        whole = {}
        for question in (each.first for each in wanted):
            if question.source.id not in models:
                metered, price = _price_in(question.source.backend)
                factory = plan.factories[question.model.kind]
                models[question.source.id] = AskedModel(question.model, factory, metered, price)
            if not is_complete_row(question.request):
                whole[question.digest] = without_origins(question.request)
        return Assignment(
            root=None if cluster.is_elsewhere else settings.root,
            checkpoint=self._folder.address,
            models=models,
            concurrency=max(1, settings.concurrency // cluster.pool.most),
            counts_tokens=settings.tokens_per_minute is not None,
            version=package_version(),
            secrets=settings.secrets.values,
            variables={name: os.environ[name] for name in self._options.env if name in os.environ},
            whole=whole,
        )

    def _note(self, intake: Intake, writer: PlanWriter) -> None:
        """Note what has no reply after a round, and why."""
        self._failed |= {row.place: row.reason for row in intake.failed}
        self._refused += (f"{row.place}: {row.reason}" for row in intake.refused)
        for request in intake.missing():
            unwritten = writer.refused.get(request.first.asker.again)
            self._failed.setdefault(request.first.digest, unwritten or "its reply could not be taken")

    def _forget(self, parts: _Parts) -> None:
        """Remove the parts whose replies are all recorded, where nobody has named the folder and may want them."""
        if self._options.checkpoint is None:
            for name in parts.whole:
                self._folder.remove(name)


def _price_in(backend: Backend | None) -> tuple[bool, Price | None]:
    """Whether requests of a backend are paid from the budget, and their price."""
    from pytest_fcall.backends.budget import MeteredBackend

    return (True, backend.price) if isinstance(backend, MeteredBackend) else (False, None)


def _rows_of(folder: Folder, name: str) -> Iterator[ReplyRow]:
    """The rows of a part; the place of each is its digest."""
    from pytest_fcall.backends.cluster.answerer import read_part
    from pytest_fcall.core.json_data import read_own_json

    for row in read_part(folder, name):
        came = {"reply": read_own_json(row.reply)} if row.reply is not None else {"error": row.error}
        yield ReplyRow(row.digest, {"digest": row.digest, **came})


def _close(intake: Intake) -> None:
    for note in intake.close():
        print_problem(note)
