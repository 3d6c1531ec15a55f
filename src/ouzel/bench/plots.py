"""Plots of experiments: one figure by what was varied, a line for each series."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ouzel.bench.measure import Row
from ouzel.errors import OuzelError


def draw(title: str, rows: Sequence[Row], figure: str, path: Path) -> None:
    """Write a plot as SVG; on a logarithmic scale, as the papers' are."""
    try:
        # not pyplot, which looks for a screen
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise OuzelError("plots: required Matplotlib; install ouzel[bench]") from None
    points = list(dict.fromkeys(row.varied for row in rows))
    page = Figure(figsize=(8, 5), layout="constrained")
    axes = page.add_subplot()
    for series in dict.fromkeys(row.series for row in rows):
        own = {row.varied: row.figures[figure] for row in rows if row.series == series and figure in row.figures}
        axes.plot([points.index(varied) for varied in own], list(own.values()), marker="o", label=series)
    axes.set_xticks(range(len(points)), points)
    axes.set_yscale("log")
    axes.set_ylabel(figure)
    axes.set_title(title, loc="left", wrap=True, fontsize="medium")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    page.savefig(path, dpi=120, format="svg")
