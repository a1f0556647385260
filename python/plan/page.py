"""The page of a plan, in the design of all pages (data/report): the best, the front, the mapping of axes to levels, the funnel."""
import dataclasses
import html
import math

import answer
import why
from export import data_folder
from pages import document, table

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 640, 300, 60, 22, 40
COLOURS = ("var(--accent)", "var(--network)", "var(--memory)", "var(--warn)")


@dataclasses.dataclass(frozen=True)
class Shown:
    rows: list  # all that fit, the best first
    top: int  # of which a table shows so many
    mesh: dict  # of the best
    capacity: float  # bytes of a device
    steps: list  # (what became of configurations, how many)
    other: dict | None  # the row of --why


def drawn(label, height, parts):
    """A picture that a narrow window scrolls instead of making it too small to read."""
    return (f'<figure><div class=scroll tabindex=0 role=region aria-label="{label}"><svg class=chart style="min-width:32rem" viewBox="0 0 {WIDTH} {height}" '
            f'role=img aria-label="{label}" font-size="12">{"".join(parts)}</svg></div></figure>')


def ticks(most):
    """Round values from 0 to `most`: at most five steps of 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(most))
    step = next(step * power for step in (0.2, 0.5, 1, 2, 5) if most / (step * power) <= 5)
    return [step * at for at in range(1, int(most / step * (1 + 1e-9)) + 1)]


def label(x, y, anchor, text):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="currentColor">{text}</text>'


def scatter(rows, front, capacity):
    """Step time against memory of all that were estimated; those of the front are filled, and a line is what a device may hold, where it is near."""
    most = 1.05 * max(row["peak_memory_bytes"] for row in rows) / 1e9
    most = max(most, 1.02 * capacity / 1e9) if capacity / 1e9 < 2 * most else most
    longest = 1.05 * min(max(row["step_time_s"] for row in rows), 3 * rows[0]["step_time_s"])
    right, low = WIDTH - LEFT - 10, HEIGHT - BOTTOM

    def place(row):
        return LEFT + right * row["peak_memory_bytes"] / 1e9 / most, TOP + (low - TOP) * (1 - min(1.0, row["step_time_s"] / longest))

    names, parts = {row["name"] for row in front}, [f'<path d="M{LEFT} {TOP}V{low}H{WIDTH}" fill="none" stroke="currentColor"/>']
    for row in rows:
        x, y = place(row)
        fill = "var(--accent)" if row["name"] in names else "none"
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{fill}" stroke="var(--accent)"><title>{html.escape(row["name"])}: '
                     f'{row["step_time_s"]:.4g} s, {row["peak_memory_bytes"] / 1e9:.3g} GB</title></circle>')
    if capacity / 1e9 <= most:
        x = LEFT + right * capacity / 1e9 / most
        parts.append(f'<path d="M{x:.1f} {TOP}V{low}" stroke="var(--warn)" stroke-dasharray="4 3"/>' + label(x - 4, TOP + 10, "end", "limit"))
    parts += [label(LEFT + right * value / most, low + 16, "middle", f"{value:.3g}") for value in ticks(most)]
    parts += [label(LEFT - 6, TOP + (low - TOP) * (1 - value / longest) + 4, "end", f"{value:.3g}") for value in ticks(longest)]
    parts += [label(LEFT, 12, "start", "step [s], at the top three times the best and more"), label(WIDTH - 10, HEIGHT - 6, "end", "peak memory of a device [GB]")]
    return drawn("Step time against memory", HEIGHT, parts)


def mapping(mesh):
    """One bar for each level of the network, divided by the axes that lie on it."""
    if mesh["between_nodes"] is None:
        axes = ", ".join(f"{html.escape(name)} {size}" for name, size in zip(mesh["axis_names"], mesh["shape"]))
        return f"<p>Nodes cut across these axes ({axes}): some neighbours on an axis share a node, others do not.</p>"
    lines = []
    for at, (level, key) in enumerate((("between nodes", "between_nodes"), ("within a node", "within_nodes"))):
        parts = [(name, size) for name, size in zip(mesh["axis_names"], mesh[key]) if size > 1]
        whole, x = sum(math.log2(size) for _, size in parts) or 1, 130.0
        lines.append(f'<text x="0" y="{22 + 40 * at}" fill="currentColor">{level}</text>')
        if not parts:
            lines.append(label(x, 22 + 40 * at, "start", "no axis"))
        for name, size in parts:
            width = 500 * math.log2(size) / whole
            colour = COLOURS[mesh["axis_names"].index(name) % len(COLOURS)]
            lines.append(f'<rect x="{x:.0f}" y="{4 + 40 * at}" width="{width - 3:.0f}" height="28" rx="4" fill="none" stroke="{colour}" stroke-width="2"/>'
                         f'<text x="{x + width / 2:.0f}" y="{22 + 40 * at}" text-anchor="middle" fill="currentColor">{html.escape(name)} {size}</text>')
            x += width
    return drawn("Axes on the levels of the network", 78, lines)


def reasons(other, best, capacity):
    """The terms of the step of two rows, the largest difference first."""
    one, two = why.terms(other), why.terms(best)
    keys = sorted(why.TERMS, key=lambda term: -abs(one[term[1]] - two[term[1]]))
    rows = [[f"{one[key]:.4g}", f"{two[key]:.4g}", f"{one[key] - two[key]:+.3g}", f"{name} [s]"] for name, key in (("step", "step_time_s"), *keys)]
    memory = [row["peak_memory_bytes"] / 1e9 for row in (other, best)]
    rows.append([f"{memory[0]:.4g}", f"{memory[1]:.4g}", f"{memory[0] - memory[1]:+.3g}", f"memory [GB], of {capacity / 1e9:.4g}"])
    return table(other["name"], ("this", "best", "difference", "of"), rows)


def body(shown):
    heads = [*("±" if name == "+-" else name for name, _, _ in answer.SHOWN), "configuration"]
    front, best = answer.front(shown.rows), shown.rows[0]

    def cells(rows):
        return [[*answer.cells(row), row["name"]] for row in rows]

    parts = [f"<section><h2>Best</h2>{table('Best configurations', heads, cells(shown.rows[:shown.top]))}</section>",
             f"<section><h2>Axes of the best on the network</h2>{mapping(shown.mesh)}</section>",
             f"<section><h2>Time and memory</h2>{scatter(shown.rows, front, shown.capacity)}"
             f"{table('Front: no other needs less of both', heads, cells(front))}</section>"]
    if shown.other:
        parts.append(f"<section><h2>Why not</h2>{reasons(shown.other, best, shown.capacity)}</section>")
    funnel = table("What was left out", ("count", "why"), [[str(number), reason] for reason, number in shown.steps])
    return "\n".join([*parts, f"<section><h2>Search</h2>{funnel}</section>"])


def write(path, title, shown):
    path.write_text(document(data_folder(), "Plan", title, body(shown)), encoding="utf-8")
