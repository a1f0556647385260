"""Figures of results as SVG beside their results.json: bars, lines or a scatter. Runs in the environment of python/locks/figures.txt.

bars     stacked compute and exposed communication of each source, a panel for each system (or workload); points: |error| on the right axis
lines    time over workload, one line a source, both axes logarithmic
scatter  prediction over measurement, both axes logarithmic
published  a scatter, and beside it the efficiency of weak scaling over devices
"""
import json
import pathlib
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

COLOURS = ["#56b4e9", "#0072b2", "#009e73", "#e69f00", "#cc79a7", "#d55e00", "#000000", "#7f7f7f"]
HATCHES = ["", "//", "\\\\", "xx", "..", "++", "oo", "--"]
MEASURED = "Measured"
REFERENCE = "#bbbbbb"
ROUNDING = 0.005  # s, of measured steps
MANY = 16  # groups of bars that two panels in a row can label


def unique(rows, key):
    return list(dict.fromkeys(row[key] for row in rows))


def short(names):
    """Names without what all of them start or end with, word by word."""
    words = [name.replace("_", "-").split("-") for name in names]
    while len(names) > 1 and min(map(len, words)) > 1 and len({word[0] for word in words}) == 1:
        words = [word[1:] for word in words]
    while len(names) > 1 and min(map(len, words)) > 1 and len({word[-1] for word in words}) == 1:
        words = [word[:-1] for word in words]
    return ["-".join(word) for word in words]


def bars_of_source(axes, places, rows, width, at, source):
    """Stacked bars of one source in one panel; times in ms."""
    colour = COLOURS[at % len(COLOURS)]
    xs = [places[key] for key in rows]
    total = [1e3 * row["step_time_s"] for row in rows.values()]
    exposed = [1e3 * (row.get("exposed_communication_s") or 0) for row in rows.values()]
    sigma = [1e3 * (row.get("step_time_sigma_s") or 0) for row in rows.values()]
    axes.bar(xs, [a - b for a, b in zip(total, exposed)], width, color=colour, hatch=HATCHES[at % len(HATCHES)], edgecolor="white", linewidth=0.4, label=source)
    axes.bar(xs, exposed, width, bottom=[a - b for a, b in zip(total, exposed)], color=colour, alpha=0.4, edgecolor=colour, linewidth=0.5)
    if any(sigma):
        axes.errorbar(xs, total, yerr=sigma, fmt="none", ecolor="#333333", elinewidth=0.8, capsize=1.5)


def panel(axes, rows, groups, sources, key):
    """Groups of bars, the measured one first; errors as points on a second axis."""
    known = {row[key]: row["measured_s"] for row in rows if row.get("measured_s")}
    present = {row["source"] for row in rows}
    names = ([MEASURED] if known else []) + [source for source in sources if source in present]
    width = 0.85 / len(names)
    errors = []
    for at, name in enumerate(names):
        places = {group: i + (at - (len(names) - 1) / 2) * width for i, group in enumerate(groups)}
        if name == MEASURED:
            axes.bar([places[group] for group in known], [1e3 * value for value in known.values()], width, color=REFERENCE, edgecolor="#888888", linewidth=0.5,
                     yerr=1e3 * ROUNDING, error_kw={"elinewidth": 0.6, "capsize": 1}, label=MEASURED)
            continue
        found = {row[key]: row for row in rows if row["source"] == name and row.get("step_time_s")}
        bars_of_source(axes, places, found, width, sources.index(name), name)
        errors += [(places[group], abs(row["error_percent"])) for group, row in found.items() if row.get("error_percent") is not None]
    if errors:
        right = axes.twinx()
        right.scatter(*zip(*errors), s=9, color="#d62728", zorder=5)
        right.set_ylim(bottom=0)
        right.set_ylabel("|error| [%]", color="#d62728", fontsize=8)
        right.tick_params(labelsize=7, colors="#d62728")
    rotation = 90 if len(groups) > MANY else 30 if len(groups) > 6 else 0
    axes.set_xticks(range(len(groups)), short(groups), rotation=rotation, ha="right" if rotation == 30 else "center", fontsize=5.5 if rotation == 90 else 7)
    axes.set_xlim(-0.7, len(groups) - 0.3)
    axes.set_ylabel("step [ms]", fontsize=8)
    axes.tick_params(axis="y", labelsize=7)


def bars(result, form):
    rows = result["rows"]
    across = form.get("panels", "system")
    key = "workload" if across == "system" else "system"
    panels, sources = unique(rows, across), unique(rows, "source")
    crowded = max(len({row[key] for row in rows if row[across] == name}) for name in panels) > MANY
    columns = 1 if crowded else min(2, len(panels))
    lines = -(-len(panels) // columns)
    figure, grid = plt.subplots(lines, columns, figsize=(12.4 if crowded else 6.2 * columns, (3.8 if crowded else 2.9) * lines + 0.6), squeeze=False)
    for axes, name in zip(grid.flat, panels):
        mine = [row for row in rows if row[across] == name]
        panel(axes, mine, unique(mine, key), sources, key)
        axes.set_title(name, fontsize=9)
        if form.get("log"):
            axes.set_yscale("log")
    for axes in list(grid.flat)[len(panels):]:
        axes.set_visible(False)
    handles = {label: handle for axes in grid.flat for handle, label in zip(*axes.get_legend_handles_labels())}
    figure.legend(handles.values(), handles, loc="upper center", ncols=min(6, len(handles)), fontsize=8, frameon=False)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.35 / figure.get_figheight()))
    return figure


def lines(result, form):
    del form
    rows = result["rows"]
    figure, axes = plt.subplots(figsize=(8, 5))
    for at, source in enumerate(unique(rows, "source")):
        points = [(float(row["workload"]), row["step_time_s"]) for row in rows if row["source"] == source and row.get("step_time_s")]
        axes.plot(*zip(*points), marker="o", markersize=4, color=COLOURS[at % len(COLOURS)], label=source)
    axes.set(xscale="log", yscale="log", xlabel="size", ylabel="time [s]", title=result["title"])
    axes.set_xscale("log", base=2)
    axes.grid(True, which="major", color="#e5e5e5")
    axes.legend(fontsize=8)
    return figure


def scatter(result, form):
    del form
    figure, axes = plt.subplots(figsize=(6.5, 6))
    draw_scatter(axes, result)
    return figure


def draw_scatter(axes, result):
    rows = [row for row in result["rows"] if row.get("measured_s") and row.get("step_time_s")]
    axes.set(xscale="log", yscale="log", xlabel="measured [s]", ylabel="predicted [s]", title=result["title"])
    if not rows:
        return
    for at, source in enumerate(unique(rows, "source")):
        points = [(row["measured_s"], row["step_time_s"]) for row in rows if row["source"] == source]
        axes.scatter(*zip(*points), s=18, color=COLOURS[at % len(COLOURS)], label=source)
    ends = [f(row[key] for row in rows for key in ("measured_s", "step_time_s")) for f in (min, max)]
    axes.plot(ends, ends, color="#999999", linewidth=0.8)
    axes.legend(fontsize=8)


def published(result, form):
    del form
    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 6))
    draw_scatter(left, result)
    families = {}
    for row in result["statistics"]["scaling"]:
        families.setdefault((row["row"].rpartition("-")[0], row["from_devices"]), []).append(row)
    for at, ((name, first), rows) in enumerate(families.items()):
        colour = COLOURS[at % len(COLOURS)]
        for key, style, label in (("published_percent", "o-", name), ("predicted_percent", "x--", None)):
            points = [(first, 100), *((row["devices"], row[key]) for row in rows if row[key] is not None)]
            right.plot(*zip(*points), style, markersize=4, linewidth=1, color=colour, label=label)
    right.set_xscale("log", base=2)
    right.set(xlabel="devices", ylabel="efficiency of weak scaling [%]", title="Published (points, lines) and predicted (crosses, broken lines)")
    right.grid(True, color="#e5e5e5")
    right.legend(fontsize=7)
    return figure


def main():
    plt.rcParams.update({"svg.hashsalt": "hespas", "svg.fonttype": "none", "font.family": "sans-serif"})
    for path in map(pathlib.Path, sys.argv[1:]):
        result = json.loads(path.read_text(encoding="utf-8"))
        form = result["configuration"]["figure"]
        figure = {"bars": bars, "lines": lines, "scatter": scatter, "published": published}[form["form"]](result, form)
        figure.savefig(path.with_name(f"{result['name']}.svg"), metadata={"Date": None}, bbox_inches="tight")
        plt.close(figure)


if __name__ == "__main__":
    main()
