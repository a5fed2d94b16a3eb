"""Numbers as text: rates, times, costs, counts and differences."""

from __future__ import annotations

from pytest_fcall.reporting.statistics import wilson_interval


def accuracy_text(right: float, answered: int) -> str:
    """Write `93.8 %`. Only if all are right it is 100.0 %, and only if none is right 0.0 %."""
    if answered == 0:
        return "-"
    percent = 100 * right / answered
    if right not in (0, answered):
        percent = min(max(percent, 0.1), 99.9)
    return f"{percent:.1f} %"


def interval_text(right: float, answered: int) -> str:
    """Write the 95 % interval in percent: `[83, 98]`."""
    low, high = wilson_interval(right, answered)
    return f"[{100 * low:.0f}, {100 * high:.0f}]" if answered else "-"


def seconds_text(seconds: float | None) -> str:
    """Write a time, or nothing if it is unknown."""
    if seconds is None:
        return ""
    if seconds < 0.1:
        return f"{1000 * seconds:.0f} ms"
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:,.0f} s"


def cost_text(cost: float | None, unpriced: int = 0) -> str:
    """Write US dollars, with a plus if the cost of some answers is unknown; nothing if no cost is known."""
    if cost is None:
        return ""
    plus = "+" if unpriced else ""
    if 0 < cost < 0.0001:
        return f"<$0.0001{plus}"
    return f"${cost:,.2f}{plus}" if cost >= 1 or cost == 0 else f"${cost:.4f}{plus}"


def speed_text(speed: float | None) -> str:
    """Write tokens a second, or nothing if they are unknown."""
    return "" if speed is None else f"{speed:,.0f}" if speed >= 10 else f"{speed:.1f}"


def count_text(count: int | None) -> str:
    """Write a whole number, or nothing if it is unknown."""
    return "" if count is None else f"{count:,}"


def score_text(value: float | None) -> str:
    """Write a score as `0.6667`. Only a perfect score is 1.0000, and only a score of nothing 0.0000."""
    if value is None:
        return "-"
    return f"{value if value in (0, 1) else min(max(value, 0.0001), 0.9999):.4f}"


def percent_text(share: float | None) -> str:
    """Write a share as `66.67 %`."""
    return "-" if share is None else f"{share * 100:.2f} %"


def points_text(difference: float) -> str:
    """Write a difference of shares in points: `+3.1`."""
    return f"{100 * difference:+.1f}" if difference else "0.0"


def p_value_text(p_value: float) -> str:
    """Write a p-value with three digits."""
    return "<0.001" if p_value < 0.001 else f"{p_value:.3f}"


def p_equation_text(p_value: float) -> str:
    """Write `p = 0.031`, or `p < 0.001`."""
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"


def duration_text(seconds: float) -> str:
    """Write how long something takes or took: `45 s`, `3 min 20 s`, `2 h 05 min`."""
    whole = max(round(seconds), 0)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"
