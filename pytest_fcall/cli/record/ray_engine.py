"""`fcall record --engine=ray`: the open requests are answered by a cluster, round by round."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from pytest_fcall.backends.cluster.assignment import AskedModel, Assignment, says_everything, without_origins
from pytest_fcall.backends.store import StoreError
from pytest_fcall.cli.command_parser import command_parser
from pytest_fcall.cli.project import existing_paths
from pytest_fcall.cli.record.messages import OPEN, print_not_planned, print_problem, print_some, reply_count
from pytest_fcall.cli.record.plan_run import NoPlan, PlanRun, run_plan
from pytest_fcall.core import ModelUnavailable
from pytest_fcall.core.json_reading import read_json
from pytest_fcall.core.private_files import NAME
from pytest_fcall.reporting.number_text import plural_text
from pytest_fcall.session.ask.open_requests import OpenRequest
from pytest_fcall.session.offline.intake import Intake
from pytest_fcall.session.offline.plan import PlanWriter
from pytest_fcall.session.offline.reply_rows import ReplyRow
from pytest_fcall.session.offline.rounds import Rounds

if TYPE_CHECKING:
    from pytest_fcall.backends.costs.prices import Price
    from pytest_fcall.cli.record.ray_cluster import Cluster
    from pytest_fcall.core import Backend, Json
    from pytest_fcall.core.storage import Folder

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
    existing_paths(parser, [path.partition("::")[0] for path in options.paths])
    if missing := [name for name in options.env if name not in os.environ]:
        parser.error(f"--env: {missing[0]} is not set here")
    if options.vllm_option and not options.vllm:
        parser.error("--vllm-option can only be used with --vllm")
    cap = [] if options.fc_max_cost is None else [f"--fc-max-cost={options.fc_max_cost}"]
    options.pytest = [*(f"--fc-model={model}" for model in options.fc_model), *cap, *for_pytest]
    try:
        ray_library()  # before the plan, which may take long
        return _answer(options)
    except NoPlan as why:
        print(why, file=sys.stderr)
        return 2
    except (ClusterError, StoreError) as error:
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
        type=actor_range,
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


def actor_range(text: str) -> tuple[int, int]:
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


@dataclass(slots=True)
class _Work:
    """What is kept from round to round."""

    options: Namespace
    folder: Folder
    failed: dict[str, str] = field(default_factory=dict)
    """Why there is no reply, by digest; such a request is not sent again by the same command."""
    refused: list[str] = field(default_factory=list)

    def note_round(self, intake: Intake, writer: PlanWriter) -> None:
        """Note what has no reply after a round, and why."""
        self.failed |= {row.place: row.reason for row in intake.failed}
        self.refused += (f"{row.place}: {row.reason}" for row in intake.refused)
        for request in intake.missing():
            unwritten = writer.refused.get(request.first.asker.again)
            self.failed.setdefault(request.first.digest, unwritten or "its reply could not be taken")


class _Parts:
    """The parts of a round on their way into the recordings."""

    def __init__(self, work: _Work, intake: Intake) -> None:
        self._work = work
        self._intake = intake
        self._whole: list[str] = []
        self.read = 0
        """The number of parts that were read."""

    def take_all(self, names: Iterable[str]) -> None:
        """Take the replies in some parts."""
        for name in names:
            self.take(name)

    def take(self, name: str, *, errors: bool = True) -> None:
        """Take the replies in a part."""
        before = len(self._intake.refused)
        self._intake.take(row for row in _rows_of(self._work.folder, name) if errors or "error" not in row.data)
        self.read += 1
        if len(self._intake.refused) == before:
            self._whole.append(name)

    def forget(self) -> None:
        """Remove the parts whose replies are all recorded, where nobody has named the folder and may want them."""
        if self._work.options.checkpoint is None:
            for name in self._whole:
                self._work.folder.remove(name)


def _answer(options: Namespace) -> int:
    from pytest_fcall.cli.record.ray_cluster import ActorPool, connected, node_count, ship_by_value

    run = run_plan(options.paths, options.pytest)
    if run.settings.record == "off":
        print_problem("--engine writes into the recordings, which --fc-record=off switches off")
        return 2
    work = _Work(options, _checkpoint(options, run))
    if taken := _take_earlier(work, run):
        print(f"{reply_count(taken)} of an earlier run taken from {work.folder.address}")
        run = run_plan(options.paths, options.pytest)
    print_not_planned(run.problems, run.requests.apps)
    if len(run.requests):
        least, most = options.actors
        pool = ActorPool(least, most, options.actor_cpus, options.actor_gpus)
        with connected(options.address, pool, run.settings) as cluster:
            ship_by_value(run.factories, run.settings.root)
            print(f"ray: {plural_text(node_count(), 'node')}, up to {plural_text(pool.most, 'actor')}")
            while taken := _round(work, run, cluster):
                run = run_plan(options.paths, options.pytest)
                Rounds(run.settings.root).add_replies(taken, len(run.requests))
    return _end(work, run)


def _checkpoint(options: Namespace, run: PlanRun) -> Folder:
    """The folder of the replies, which is there from now on."""
    from pytest_fcall.backends.cluster.answerer import MARK
    from pytest_fcall.core.storage import Folder

    folder = Folder(options.checkpoint or str(run.settings.root / NAME / "ray"))
    folder.make()
    folder.write(MARK, b"")
    return folder


def _take_earlier(work: _Work, run: PlanRun) -> int:
    """Take the replies that are there already: of a run that was killed, or of one that others have made."""
    from pytest_fcall.backends.cluster.parts import part_names

    intake = Intake(run.requests, run.settings)
    parts = _Parts(work, intake)
    try:
        for name in part_names(work.folder):
            parts.take(name, errors=False)
    finally:
        _close(intake)
    parts.forget()
    return intake.taken


def _round(work: _Work, run: PlanRun, cluster: Cluster) -> int:
    """Have the open requests answered; gives the number of replies, which others may follow."""
    wanted = [each for each in run.requests if each.first.digest not in work.failed]
    if not wanted:
        return 0
    writer = PlanWriter(run.settings.root, run.settings.secrets)
    name, number = _write_plan(work, run, writer, wanted)
    client, intake = cluster.client, Intake(run.requests, run.settings)
    parts = _Parts(work, intake)
    client.new_round()
    assignment = _assignment(work, run, wanted, cluster)
    try:
        for _ in _answers(work, run, cluster, name, writer.written, assignment) if writer.written else ():
            parts.take_all(client.parts_after(parts.read))
        parts.take_all(client.parts_after(parts.read))
    finally:
        _close(intake)
    parts.forget()
    work.folder.remove(name)
    work.note_round(intake, writer)
    print(f"round {number}: {plural_text(len(wanted), 'request')}, {reply_count(intake.taken)}")
    return intake.taken


def _answers(
    work: _Work, run: PlanRun, cluster: Cluster, plan: str, requests: int, assignment: Assignment
) -> Iterator[int]:
    """What answers a plan: backends in actors, or vLLM."""
    if not work.options.vllm:
        return cluster.answered(plan, requests, assignment)
    from pytest_fcall.backends.local.vllm_rows import VllmRows
    from pytest_fcall.cli.ray_library import ClusterError

    models = [asked.model for asked in assignment.models.values()]
    if len(models) != 1 or models[0].kind != "local":
        raise ClusterError("--vllm answers for one model of the kind local: name it with --fc-model=local:NAME")
    try:
        rows = VllmRows.of(models[0], run.settings.root)
    except ModelUnavailable as error:
        raise ClusterError(str(error)) from None
    return cluster.answered_by_vllm(plan, requests, assignment, rows, dict(work.options.vllm_option))


def _write_plan(work: _Work, run: PlanRun, writer: PlanWriter, wanted: Sequence[OpenRequest]) -> tuple[str, int]:
    """Write the plan where all nodes read it; gives its name, and the number of the round."""
    models = sorted({each.first.source.id for each in wanted})
    rounds = Rounds(run.settings.root)
    number = rounds.begin(len(wanted), models).number
    if rounds.fault:
        print_problem(rounds.fault)
    name = _PLAN.format(number)
    with TemporaryDirectory() as own:
        draft = Path(own) / name
        writer.write(draft, wanted, "fcall")
        with draft.open("rb") as written, work.folder.writer(name) as stream:
            while portion := written.read(1 << 20):
                stream.write(portion)
    return name, number


def _assignment(work: _Work, run: PlanRun, wanted: Iterable[OpenRequest], cluster: Cluster) -> Assignment:
    from pytest_fcall.backends.cluster.answerer import package_version

    settings, models = run.settings, dict[str, AskedModel]()
    whole = {}
    for question in (each.first for each in wanted):
        if question.source.id not in models:
            metered, price = _price_in(question.source.backend)
            models[question.source.id] = AskedModel(question.model, run.factories[question.model.kind], metered, price)
        if not says_everything(question.request):
            whole[question.digest] = without_origins(question.request)
    return Assignment(
        root=None if cluster.is_elsewhere else settings.root,
        checkpoint=work.folder.address,
        models=models,
        concurrency=max(1, settings.concurrency // cluster.pool.most),
        counts_tokens=settings.tokens_per_minute is not None,
        version=package_version(),
        secrets=settings.secrets.values,
        variables={name: os.environ[name] for name in work.options.env if name in os.environ},
        whole=whole,
    )


def _price_in(backend: Backend | None) -> tuple[bool, Price | None]:
    """Whether requests of a backend are paid from the budget, and their price."""
    from pytest_fcall.backends.costs.budget import MeteredBackend

    return (True, backend.price) if isinstance(backend, MeteredBackend) else (False, None)


def _rows_of(folder: Folder, name: str) -> Iterator[ReplyRow]:
    """The rows of a part; the place of each is its digest."""
    from pytest_fcall.backends.cluster.parts import read_part
    from pytest_fcall.core.json_reading import read_own_json

    for row in read_part(folder, name):
        came = {"reply": read_own_json(row.reply)} if row.reply is not None else {"error": row.error}
        yield ReplyRow(row.digest, {"digest": row.digest, **came})


def _close(intake: Intake) -> None:
    for note in intake.close():
        print_problem(note)


def _end(work: _Work, run: PlanRun) -> int:
    """Say what is left."""
    still = [*run.requests]
    askers = {each.first.digest: each.first for each in still}
    lines = [
        f"{askers[digest].asker.again}: {askers[digest].source.id}: no reply: {why}"
        for digest, why in work.failed.items()
        if digest in askers
    ]
    print_some(lines, "requests without a reply")
    print_some([f"not taken: {line}" for line in work.refused], "replies that are not taken")
    print(f"{plural_text(len(still), 'request')} open" if still else "nothing is open")
    if work.refused or run.problems:
        return 1
    return OPEN if still else 0
