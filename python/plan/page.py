"""The page of a plan, in the design of all pages (data/report): the best, the front, the mapping of axes to levels, the funnel."""
import html
import math
import re

import answer
import commands
import why
from export import data_folder

WIDTH, HEIGHT, LEFT, BOTTOM = 640, 300, 60, 40
COLOURS = ("var(--accent)", "var(--network)", "var(--memory)", "var(--warn)")


def table(caption, heads, rows):
    head = "".join(f"<th scope=col>{html.escape(text)}</th>" for text in heads)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in row) + "</tr>" for row in rows)
    return (f'<div class=scroll tabindex=0 role=region aria-label="{html.escape(caption)}"><table><caption>{html.escape(caption)}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>")


def scatter(rows, front, capacity):
    """Step time against memory of all that were estimated; those of the front are filled."""
    most, longest = max(capacity, max(row["peak_memory_bytes"] for row in rows)), 3 * rows[0]["step_time_s"]

    def place(row):
        return (LEFT + (WIDTH - LEFT - 10) * row["peak_memory_bytes"] / most, (HEIGHT - BOTTOM) * (1 - min(1.0, row["step_time_s"] / longest)))

    names, marks = {row["name"] for row in front}, []
    for row in rows:
        x, y = place(row)
        fill = "var(--accent)" if row["name"] in names else "none"
        marks.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{fill}" stroke="var(--accent)"><title>{html.escape(row["name"])}: '
                     f'{row["step_time_s"]:.4g} s, {row["peak_memory_bytes"] / 1e9:.3g} GB</title></circle>')
    axes = "".join(f'<text x="{LEFT + (WIDTH - LEFT - 10) * part:.0f}" y="{HEIGHT - 20}" text-anchor="middle" fill="currentColor">{most * part / 1e9:.3g}</text>'
                   f'<text x="{LEFT - 6}" y="{(HEIGHT - BOTTOM) * (1 - part) + 10:.0f}" text-anchor="end" fill="currentColor">{longest * part:.3g}</text>'
                   for part in (0.25, 0.5, 0.75, 1))
    return (f'<svg class=chart viewBox="0 0 {WIDTH} {HEIGHT}" role=img aria-label="Step time against memory" font-size="12">{axes}'
            f'<path d="M{LEFT} 0V{HEIGHT - BOTTOM}H{WIDTH}" fill="none" stroke="currentColor"/>{"".join(marks)}'
            f'<text x="{WIDTH - 10}" y="{HEIGHT - 4}" text-anchor="end" fill="currentColor">memory [GB]; upright: step [s], at most three times the best</text></svg>')


def mapping(candidate):
    """One bar for each level of the network, divided by the axes that lie on it."""
    mesh, lines = commands.mesh(candidate), []
    for at, (level, key) in enumerate((("between nodes", "between_nodes"), ("within a node", "within_nodes"))):
        parts = [(name, size) for name, size in zip(mesh["axis_names"], mesh[key]) if size > 1]
        whole, x = sum(math.log2(size) for _, size in parts) or 1, 130.0
        lines.append(f'<text x="0" y="{22 + 40 * at}" fill="currentColor">{level}</text>')
        for name, size in parts:
            width = 500 * math.log2(size) / whole
            colour = COLOURS[mesh["axis_names"].index(name) % len(COLOURS)]
            lines.append(f'<rect x="{x:.0f}" y="{4 + 40 * at}" width="{width - 3:.0f}" height="28" rx="4" fill="none" stroke="{colour}" stroke-width="2"/>'
                         f'<text x="{x + width / 2:.0f}" y="{22 + 40 * at}" text-anchor="middle" fill="currentColor">{name} {size}</text>')
            x += width
    return f'<svg class=chart viewBox="0 0 {WIDTH} 84" role=img aria-label="Axes on the levels of the network" font-size="12">{"".join(lines)}</svg>'


def body(search, best, steps, other):
    heads = [*(name for name, _, _ in answer.SHOWN), "configuration"]
    rows = [[*answer.cells(row), row["name"]] for row in best]
    front = answer.front(search.best)
    parts = [f"<section><h2>Best</h2>{table('Best configurations', heads, rows)}</section>",
             f"<section><h2>Axes of the best on the network</h2><figure>{mapping(best[0]['candidate'])}</figure></section>",
             f"<section><h2>Time and memory</h2><figure>{scatter(search.best, front, search.problem.capacity)}</figure>"
             f"{table('Front: no other needs less of both', heads, [[*answer.cells(row), row['name']] for row in front])}</section>"]
    if other:
        parts.append(f"<section><h2>Why not</h2><pre>{html.escape(chr(10).join(why.told(other, best[0], search.problem.capacity)))}</pre></section>")
    funnel = table("What was left out", ("count", "why"), [[str(number), reason] for reason, number in steps])
    return "\n".join([*parts, f"<section><h2>Search</h2>{funnel}</section>"])


def write(path, title, search, best, steps, other):
    folder = data_folder() / "report"
    files = {name: (folder / name).read_text(encoding="utf-8") for name in ("page.html", "page.css", "shell.js")}
    parts = {"TITLE": "Plan", "STYLE": files["page.css"], "HEADING": "Plan", "SUBTITLE": html.escape(title), "BODY": body(search, best, steps, other),
             "SHELL": files["shell.js"], "SCRIPTS": ""}
    path.write_text(re.sub("@([A-Z]+)@", lambda mark: parts[mark[1]], files["page.html"]), encoding="utf-8")
