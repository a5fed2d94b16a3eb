"""The options and settings that pytest knows of this plugin; `pytest --help` lists them.

This module is imported in every run, so it imports nothing of ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_fcall.session.settings import Around, Drift, Fixed, Inside, Missing, RecordMode, Spans

RECORD: tuple[RecordMode, ...] = ("missing", "all", "off")
DRIFT: tuple[Drift, ...] = ("note", "fail", "ignore")
FIXED: tuple[Fixed, ...] = ("pass", "fail")
MISSING: tuple[Missing, ...] = ("inconclusive", "skip")
INSIDE: tuple[Inside, ...] = ("note", "required", "ignore")
AROUND: tuple[Around, ...] = ("refuse", "allow")
PROXY = ("on", "always", "off")
SPANS: tuple[Spans, ...] = ("auto", "always", "off")
FAIL = ("items", "gates", "both")

SETTINGS_WITHOUT_DEFAULT = (
    "fc_model",
    "fc_judge",
    "fc_gates",
    "fc_runs",
    "fc_store",
    "fc_fail",
    "fc_record",
    "fc_missing",
    "fc_max_age",
    "fc_concurrency",
    "fc_rpm",
    "fc_tpm",
    "fc_max_cost",
    "fc_samples",
    "fc_confirm",
    "fc_vary",
    "fc_bisect",
    "fc_drift",
    "fc_fixed",
    "fc_scores",
    "fc_report",
    "fc_allow_hosts",
    "fc_http_headers",
    "fc_tool_timeout",
    "fc_tool_memory",
    "fc_tool_allow",
    "fc_walls",
    "fc_proxy",
    "fc_inside",
    "fc_around",
    "fc_spans",
    "fc_spans_wait",
    "fc_apibench_checked",
    "fc_toolbench_documents",
)
"""Settings of the configuration that are empty where a project says nothing."""


def add_options(parser: pytest.Parser) -> None:
    """Declare all options and settings."""
    group = parser.getgroup("fcall", "tool calls of language models (pytest-fcall)")
    _add_models(parser, group)
    _add_limits(parser, group)
    _add_results(parser, group)
    _add_baselines(parser, group)
    _add_environments(parser, group)
    _add_suites(parser, group)


def _add_setting_of_option(parser: pytest.Parser, name: str) -> None:
    parser.addini(f"fc_{name}", f"the default of --fc-{name.replace('_', '-')}")


def _add_models(parser: pytest.Parser, group: pytest.OptionGroup) -> None:
    group.addoption(
        "--fc-model",
        action="append",
        default=[],
        metavar="KIND:NAME",
        help="the model to test, such as openai:gpt-5.2 or python:shop.agent:answer; repeat it to compare",
    )
    group.addoption(
        "--fc-judge", metavar="KIND:NAME", help="the model that judges where a case says $judge, such as openai:gpt-5.2"
    )
    group.addoption(
        "--fc-live",
        action="store_true",
        help="ask the models that only the configuration names; without it they answer from recorded replies",
    )
    group.addoption(
        "--fc-replay",
        action="store_true",
        help="use recorded replies and nothing else; a missing one is an error that says what changed",
    )
    group.addoption(
        "--fc-record",
        choices=RECORD,
        metavar="|".join(RECORD),
        help="missing: use recorded replies, ask for the others and record them (default); all: ask for all of "
        "them again; off: neither use nor record any",
    )
    group.addoption(
        "--fc-missing",
        choices=MISSING,
        metavar="|".join(MISSING),
        help="what becomes of cases without a recorded reply where no model may be asked: inconclusive: the run ends "
        "with exit status 10 (default); skip: they count as skipped on purpose",
    )
    group.addoption(
        "--fc-max-age",
        metavar="7d",
        help="ask again for replies that are older: 2w, 7d, 12h or 30m; none: use them however old they are (the "
        "default is none, and 1d where CI is set)",
    )
    group.addoption(
        "--fc-samples",
        metavar="N",
        help="ask each case so often; 'N rate>=0.8' says how many must be right",
    )
    group.addoption(
        "--fc-confirm",
        metavar="auto|N|0",
        help="ask again for cases that seem to have regressed: as often as it takes to distinguish a regression from "
        "chance (auto, the default), N times, or never; 'auto 10%%' limits further answers to a tenth of the cases",
    )
    group.addoption(
        "--fc-vary",
        metavar="RELATION,…|all|off",
        help="ask variants of each case, too, whose verdict must not change: tool_order, typos:3, …; all for every "
        "relation that needs no parameters; off for none, whatever case files say under variants",
    )
    group.addoption(
        "--fc-new-texts",
        action="store_true",
        help="where models may be asked, have the texts of variants written again that are of an earlier prompt, or "
        "cannot be used for another reason",
    )
    group.addoption(
        "--fc-bisect",
        metavar="N",
        help="search the edits of the question that made cases regress, with at most N further requests",
    )
    group.addoption(
        "--fc-history",
        action="append",
        default=[],
        metavar="DIR",
        help="a folder with files of earlier runs, such as artifacts of CI, that count as evidence (repeatable)",
    )
    parser.addini(
        "fc_history", "folders with files of earlier runs, from the root folder (one a line)", type="linelist"
    )
    group.addoption(
        "--fc-dry-run",
        action="store_true",
        help="ask nothing: list what would be asked, with estimated tokens and cost",
    )
    parser.addini("fc_model", "models to use when the command line names none (one a line)", type="linelist")
    parser.addini("fc_judge", "the model that judges where a case says $judge, if the command line names none")
    parser.addini(
        "fc_files",
        "globs, from the root folder, of YAML files that hold cases beside *.fc.yaml and *.fc.yml",
        type="linelist",
        default=["cases/**"],
    )
    parser.addini(
        "fc_outside",
        "files and folders outside of the root folder that case files may name, for prompts, tools, pictures and what "
        "they include (one a line)",
        type="linelist",
    )
    for name in ("record", "missing", "max_age", "samples", "confirm", "vary", "bisect"):
        _add_setting_of_option(parser, name)


def _add_limits(parser: pytest.Parser, group: pytest.OptionGroup) -> None:
    group.addoption("--fc-concurrency", metavar="N", help="requests in flight, over all workers (default 64)")
    group.addoption("--fc-rpm", metavar="N", help="requests a minute, over all workers (default: no limit)")
    group.addoption("--fc-tpm", metavar="N", help="tokens a minute, over all workers (default: no limit)")
    group.addoption(
        "--fc-max-cost",
        metavar="USD",
        help="stop asking before the run would cost more than this; it takes pytest-fcall[prices] or own prices",
    )
    for name in ("concurrency", "rpm", "tpm", "max_cost"):
        _add_setting_of_option(parser, name)


def _add_results(parser: pytest.Parser, group: pytest.OptionGroup) -> None:
    group.addoption(
        "--fc-gate",
        action="append",
        default=[],
        metavar="GATE",
        help="what must hold of the whole run, such as 'accuracy>=0.9' or 'accuracy[parallel]>=80%% and cost<=$2'",
    )
    group.addoption(
        "--fc-fail",
        choices=FAIL,
        metavar="|".join(FAIL),
        help="what makes the run fail: failed cases (default without gates), gates that do not hold (default with "
        "gates), or both",
    )
    group.addoption(
        "--fc-shard",
        metavar="I/N",
        help="run only this shard of the cases and tests, such as 3/8; `fcall merge` joins the runs of all shards",
    )
    group.addoption(
        "--fc-report",
        action="append",
        default=[],
        metavar="PATH",
        help="write a report of the run to PATH.md, .json or .csv, or KIND:PATH, as `fcall report --help` lists them; "
        "live.html says how far the run is, too, while it goes on; "
        "bfcl:DIR writes answers and verdicts as the suite's own tools keep them",
    )
    group.addoption(
        "--fc-score",
        action="append",
        default=[],
        metavar="'TAG: SCORE, …'",
        help="scores to show beside the verdicts on the cases of a tag, such as 'mannheim: function_accuracy'; "
        "the tag * stands for all cases",
    )
    parser.addini("fc_gates", "gates, beside those of the command line (one a line)", type="linelist")
    parser.addini(
        "fc_store",
        "the server where several hosts keep replies, such as postgresql://user@host/database?project=NAME (default: "
        ".fcall/replies.db)",
    )
    parser.addini("fc_runs", "number of runs that are kept in .fcall/runs for `fcall compare` (default 100)")
    parser.addini("fc_report", "reports, beside those of the command line (one a line)", type="linelist")
    parser.addini("fc_step_summary", "`off`: do not add the report to the summary of a job of GitHub (default on)")
    parser.addini(
        "fc_scores", "scores, beside those of the command line (a tag and its scores a line)", type="linelist"
    )
    _add_setting_of_option(parser, "fail")


def _add_baselines(parser: pytest.Parser, group: pytest.OptionGroup) -> None:
    # Two options: one that may do without its value would swallow the path behind it.
    group.addoption(
        "--fc-accept",
        action="store_const",
        const="valid",
        help="write right answers into the baseline: later runs are compared with it",
    )
    group.addoption(
        "--fc-accept=all",
        dest="fc_accept",
        action="store_const",
        const="all",
        help="the same, and accept failures as known ones: a starting point",
    )
    group.addoption(
        "--fc-prune",
        action="store_true",
        help="remove deleted cases and models from what is accepted and recorded, if the run is complete",
    )
    group.addoption(
        "--fc-drift",
        choices=DRIFT,
        metavar="|".join(DRIFT),
        help="what becomes of right answers that differ from those accepted (default: note)",
    )
    group.addoption(
        "--fc-fixed",
        choices=FIXED,
        metavar="|".join(FIXED),
        help="what becomes of cases that were accepted as failures and are right now (default: pass)",
    )
    group.addoption(
        "--fc-baseline",
        metavar="MODEL|FOLDER|git:REVISION",
        help="compare with the baseline of another model, in another copy of the project, or at a commit",
    )
    for name in ("drift", "fixed"):
        _add_setting_of_option(parser, name)


def _add_environments(parser: pytest.Parser, group: pytest.OptionGroup) -> None:
    group.addoption(
        "--fc-allow-host",
        action="append",
        default=[],
        metavar="HOST[:PORT]",
        help="a host that `environment: http` may ask, such as api.example.com or localhost:8000; repeat it for more",
    )
    parser.addini("fc_allow_hosts", "hosts beside those of --fc-allow-host (one a line)", type="linelist")
    parser.addini(
        "fc_http_headers",
        "headers that are sent to a host, such as `api.example.com Authorization: Bearer ${SHOP_TOKEN}` (one a line)",
        type="linelist",
    )
    parser.addini("fc_tool_timeout", "seconds that a called function may take (default 10)")
    parser.addini(
        "fc_tool_memory", "MiB of memory that called functions may take, for each conversation (default 2048)"
    )
    parser.addini(
        "fc_tool_allow",
        "permissions of called functions that they do not have otherwise: network, programs (one a line)",
        type="linelist",
    )
    parser.addini(
        "fc_tool_folders", "folders outside the project that called functions may read (one a line)", type="linelist"
    )
    parser.addini(
        "fc_tool_variables", "environment variables that called functions may see (one a line)", type="linelist"
    )
    parser.addini(
        "fc_walls",
        "strict: functions are not called on a Linux machine that cannot hold them as it should (default); "
        "weaker: they are, and a line says what is missing",
    )
    parser.addini(
        "fc_proxy",
        "on: what apps ask goes through a proxy (default); always: variables lead there from the start of each run, "
        "for tests with fc_wire whose client is made at import; off: apps ask directly, and nothing is recorded",
    )
    parser.addini(
        "fc_inside",
        "what becomes of answers of apps that sent no request through the proxy: note: reported where the app is "
        "known to call models (default); required: an error; ignore: not reported",
    )
    parser.addini(
        "fc_around",
        "connections to known providers that an app in this process makes around the proxy: refuse: where no model may "
        "be asked they are refused, else reported (default); allow: they are not checked",
    )
    parser.addini(
        "fc_spans",
        "spans that apps export by OpenTelemetry: auto: they are taken where a case has `spans`, unless variables of "
        "exporters are set (default); always: from the start of each run, over such variables; off: never",
    )
    parser.addini("fc_spans_wait", "most seconds to wait for the spans of an answer (default 5)")
    parser.addini(
        "fc_proxy_variables",
        "more environment variables that lead an app to its models, as NAME, NAME=URL or NAME=off (one a line)",
        type="linelist",
    )
    parser.addini(
        "fc_volatile",
        "regular expressions of what differs each time in requests, such as a date (one a line); "
        "it does not count where recordings are looked for",
        type="linelist",
    )


def _add_suites(parser: pytest.Parser, group: pytest.OptionGroup) -> None:
    group.addoption(
        "--fc-suite",
        action="append",
        default=[],
        metavar="NAME[:PART,…]",
        help="run a public benchmark, or parts of it, such as bfcl:simple_python,parallel; `fcall suites` lists them",
    )
    group.addoption(
        "--fc-suite-path",
        action="append",
        default=[],
        metavar="[NAME=]DIR",
        help="where the data is, if it is not in an installed package; with NAME=, that of one suite of several",
    )
    group.addoption(
        "--fc-pick", metavar="N[@SEED]|IDS", help="the first N cases of the suite, a sample of N, or ids and globs"
    )
    group.addoption(
        "--fc-suite-profile",
        choices=("strict", "original", "bfcl"),
        help="the rules that judge: ours, or the suite's own, also called bfcl (default: what the suite says)",
    )
    group.addoption(
        "--fc-suite-mode",
        choices=("native", "prompt"),
        help="prompt: describe the tools in the suite's own system prompt; native: send them beside it (default)",
    )
    group.addoption(
        "--fc-apibench-checked",
        action="append",
        default=[],
        metavar="API=NAMES",
        help="the arguments that distinguish APIs of APIBench, such as pipeline=model; overrides the configuration",
    )
    group.addoption(
        "--fc-toolbench-documents",
        action="append",
        default=[],
        metavar="TASK=APIS,EXAMPLES",
        help="how many documents prompts of ToolBench have, such as home_search=10,3; overrides the configuration",
    )
    parser.addini(
        "fc_toolbench_documents",
        "how many documents of APIs and how many demonstrations prompts of ToolBench have (a task a line)",
        type="linelist",
    )
    parser.addini(
        "fc_apibench_checked",
        "arguments that distinguish the APIs of APIBench, such as pipeline=model (an API a line)",
        type="linelist",
    )
