"""A chart with two logarithmic axes as SVG, from the standard library alone."""
import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 900, 560, 80, 170, 50, 60
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#7f7f7f"]


def scale(low, high, first, last):
    low, high = math.log10(low), math.log10(high)
    return lambda value: first + (math.log10(value) - low) / ((high - low) or 1) * (last - first)


def text(x, y, words, anchor="middle", size=13, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"{more}>{escape(words)}</text>'


def axes(xs, low, high, x, y, x_label, y_label):
    parts = []
    for value in xs:
        parts.append(f'<line x1="{x(value):.1f}" y1="{TOP}" x2="{x(value):.1f}" y2="{HEIGHT - BOTTOM}" stroke="#e5e5e5"/>')
        parts.append(text(x(value), HEIGHT - BOTTOM + 20, f"{value:,}"))
    for power in range(low, high + 1):
        parts.append(f'<line x1="{LEFT}" y1="{y(10.0 ** power):.1f}" x2="{WIDTH - RIGHT}" y2="{y(10.0 ** power):.1f}" stroke="#e5e5e5"/>')
        parts.append(text(LEFT - 8, y(10.0 ** power) + 4, f"1e{power}", "end"))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 15, x_label))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(text(20, middle, y_label, more=f' transform="rotate(-90 20 {middle})"'))
    return parts


def line(name, points, colour, x, y):
    """One series; a missing point breaks the line."""
    parts, run = [], []
    for at, value in [*points, (None, None)]:
        if value is not None:
            run.append(f"{x(at):.1f},{y(value):.1f}")
            parts.append(f'<circle cx="{x(at):.1f}" cy="{y(value):.1f}" r="3.5" fill="{colour}"><title>{escape(name)}, {at}: {value:.3g} s</title></circle>')
        elif run:
            parts.append(f'<polyline points="{" ".join(run)}" fill="none" stroke="{colour}" stroke-width="2"/>')
            run = []
    return parts


def loglog(title, x_label, y_label, series, xs):
    """`series`: {name: {x: y}}."""
    values = [value for points in series.values() for value in points.values()]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    x = scale(min(xs), max(xs), LEFT, WIDTH - RIGHT)
    y = scale(10.0 ** low, 10.0 ** max(high, low + 1), HEIGHT - BOTTOM, TOP)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">',
             '<rect width="100%" height="100%" fill="white"/>', text(WIDTH / 2, 28, title, size=17)]
    parts += axes(xs, low, max(high, low + 1), x, y, x_label, y_label)
    for i, (name, points) in enumerate(series.items()):
        colour = COLOURS[i % len(COLOURS)]
        parts += line(name, [(at, points.get(at)) for at in xs], colour, x, y)
        label = TOP + 12 + 22 * i
        parts.append(f'<rect x="{WIDTH - RIGHT + 15}" y="{label - 9}" width="12" height="12" fill="{colour}"/>')
        parts.append(text(WIDTH - RIGHT + 34, label + 2, name if points else f"{name} (no values)", "start"))
    return "\n".join([*parts, "</svg>"]) + "\n"
