"""Conversations with a server on loopback, against the same with replies that cost nothing."""

from __future__ import annotations

from pathlib import Path
from statistics import median

from benchmarks.dispatch import IN_FLIGHT, serving
from benchmarks.measure import pytest_command, side_by_side, table
from benchmarks.projects import write_conversations

COUNT, STEPS = 1_000, 5
LATENCY = 0.02


def conversations(folder: Path, rounds: int) -> None:
    """A thousand conversations of five steps with a server that takes 20 ms for each."""
    write_conversations(folder, COUNT, STEPS)
    with serving(LATENCY) as url:
        asking = [f"--fc-model=openai:exam?base_url={url}", "--fc-record=all", f"--fc-concurrency={IN_FLIGHT}"]
        commands = {
            "instant": pytest_command("--fc-model=python:spelt:answer", "spelt.fc.yaml"),
            "server": pytest_command(*asking, "spelt.fc.yaml"),
        }
        runs = side_by_side(commands, folder, rounds)
    waiting = COUNT * STEPS * LATENCY / IN_FLIGHT
    pairs = list(zip(runs["instant"], runs["server"], strict=True))
    alone = median(asked.wall / waiting for _, asked in pairs)
    wall = median(asked.wall / (waiting + floor.wall) for floor, asked in pairs)
    cpu = median(asked.cpu - floor.cpu for floor, asked in pairs) / COUNT / STEPS * 1000
    print(f"### {COUNT:,} conversations of {STEPS} steps, {LATENCY * 1000:.0f} ms each, {IN_FLIGHT} in flight\n")
    print(table(runs, "instant"))
    print(f"\nWall is {wall:.2f} times the ideal (the waiting, {waiting:.2f} s, and the instant run), ", end="")
    print(f"{alone:.2f} times the waiting alone; each step costs {cpu:.2f} ms of CPU above the instant run.\n")
