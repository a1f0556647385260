"""Results as text, as files and as one HTML page."""
import csv
import html
import io
import json
import pathlib
import shutil
import subprocess

from environments import Refused, environment
from pages import document

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parents[1] / "data"
STYLE = ".origin { font-style: italic; } @media screen { section .scroll { max-height: 32em; } } figure { background: #fff; } figure svg { max-width: 100%; height: auto; }\n"
COLUMNS = ("system", "workload", "source", "note", "npus", "step_time_s", "step_time_sigma_s", "compute_time_s", "communication_time_s",
           "exposed_communication_s", "exposed_percent", "flops_utilisation", "memory_bandwidth_utilisation", "peak_memory_bytes", "fits_in_memory", "measured_s", "error_percent",
           "error")
SHOWN = {"system": "system", "workload": "workload", "source": "source", "step_time_s": "step [ms]", "step_time_sigma_s": "sigma [ms]",
         "exposed_communication_s": "exposed [ms]", "flops_utilisation": "of peak %", "memory_bandwidth_utilisation": "of bandwidth %",
         "fits_in_memory": "fits", "measured_s": "measured [ms]", "error_percent": "error %", "note": "note"}
TITLES = {"errors": "Errors", "trend": "Trend between consecutive sizes", "cross_system": "Ratios between systems", "scaling": "Efficiency of weak scaling", "speed_ups": "Speed-ups",
          "reasons": "Where differences come from", "size_ratios": "Ratio of each size to the one before", "system_ratios": "Ratio of each system to each other"}
SHORT = ("reasons", "errors", "scaling", "trend", "cross_system", "speed_ups")  # in text; the others are in files and on the page
TUTORIAL = ("number", "tutorial", "compat", "ours", "measured", "why")


def complete(row):
    """A row with what follows from its figures: the error, and the exposed share of the step."""
    step, truth, exposed = row.get("step_time_s"), row.get("measured_s"), row.get("exposed_communication_s")
    return {**row, "error_percent": 100 * (step / truth - 1) if step and truth else None,
            "exposed_percent": 100 * exposed / step if step and exposed is not None else None}


def is_tutorial(result):
    return result["kind"] == "tutorial"


def columns_of(result):
    return TUTORIAL if is_tutorial(result) else COLUMNS


def cell(key, value):
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return "yes" if value else "NO"
    if not isinstance(value, float):
        return str(value)
    if key.endswith("_s"):
        return f"{1e3 * value:.4g}"
    if key.endswith("utilisation"):
        return f"{100 * value:.1f}"
    return f"{value:.2f}" if key.endswith("percent") else f"{value:.4g}"


def rows_shown(result):
    """(headers, cells) of the results; columns without a value are left out."""
    if is_tutorial(result):
        return list(TUTORIAL), [[row[key] for key in TUTORIAL] for row in result["rows"]]
    rows = [complete(row) for row in result["rows"]]
    keys = [key for key in SHOWN if any(row.get(key) not in (None, "") for row in rows)]
    cells = [["failed" if key == "step_time_s" and row.get("error") else cell(key, row.get(key)) for key in keys] for row in rows]
    return [SHOWN[key] for key in keys], cells


def statistics_shown(rows):
    keys = [key for key in rows[0] if any(row[key] is not None for row in rows)]
    return [key.replace("_", " ").replace("percent", "%") for key in keys], [[cell(key, row[key]) for key in keys] for row in rows]


def markdown(headers, cells):
    lines = ["| " + " | ".join(headers) + " |", "|---" * len(headers) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in cells]) + "\n"


def plain(headers, cells):
    widths = [max(map(len, column)) for column in zip(headers, *cells)]
    return "".join("  ".join(f"{text:<{width}}" for text, width in zip(row, widths)).rstrip() + "\n" for row in [headers, *cells])


def tables(result, render, heading):
    parts = [heading(result["title"]), render(*rows_shown(result))]
    for name in SHORT:
        if result["statistics"].get(name):
            parts += [heading(TITLES[name]), render(*statistics_shown(result["statistics"][name]))]
    return "\n".join(parts)


def as_csv(results):
    """One table of all rows; with several experiments the first column says which."""
    file = io.StringIO()
    columns = columns_of(results[0]) if len(results) == 1 else tuple(dict.fromkeys(key for result in results for key in columns_of(result)))
    several = ("experiment",) if len(results) > 1 else ()
    writer = csv.DictWriter(file, several + columns, extrasaction="ignore", restval="", lineterminator="\n")
    writer.writeheader()
    for result in results:
        writer.writerows({"experiment": result["name"], **(row if is_tutorial(result) else complete(row))} for row in result["rows"])
    return file.getvalue()


def as_json(results):
    shown = [{"schema_version": 1, **result, "rows": result["rows"] if is_tutorial(result) else [complete(row) for row in result["rows"]]}
             for result in results]
    return json.dumps(shown[0] if len(shown) == 1 else shown, indent=2) + "\n"


def text(results, form):
    if form == "csv":
        return as_csv(results)
    if form == "json":
        return as_json(results)
    render, heading = (markdown, "## {}\n".format) if form == "md" else (plain, "{}\n".format)
    return "\n".join(tables(result, render, heading) for result in results)


def html_table(label, headers, cells):
    head = "".join(f"<th scope=col>{html.escape(text)}</th>" for text in headers)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in row) + "</tr>" for row in cells)
    return f'<div class=scroll tabindex=0 role=region aria-label="{html.escape(label)}"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def section(result, figure):
    parts = [f'<section id="{result["name"]}"><h2>{html.escape(result["title"])}</h2><p class=origin>{html.escape(result["origin"])}</p>',
             f"<p>{html.escape(result['about'])}</p><pre>hespas experiment {result['name']}</pre>"]
    if figure is not None and figure.exists():
        svg = figure.read_text(encoding="utf-8")
        parts.append(f"<figure>{svg[svg.index('<svg'):]}</figure>")
    parts.append("<details open><summary>Results</summary>" + html_table(f"Results of {result['title']}", *rows_shown(result)) + "</details>")
    for name, title in TITLES.items():
        rows = result["statistics"].get(name)
        if rows:
            opened = " open" if name in ("reasons", "errors", "scaling", "trend", "cross_system") else ""
            parts.append(f"<details{opened}><summary>{title}</summary>" + html_table(f"{title} of {result['title']}", *statistics_shown(rows)) + "</details>")
    configuration = html.escape(json.dumps(result["configuration"], indent=2))
    parts.append(f"<details><summary>Configuration</summary><pre>{configuration}</pre></details></section>")
    return "\n".join(parts)


def page(results, folder):
    """All experiments on one page that needs nothing else, in the design of all pages (data/report)."""
    index = "".join(f'<li><a href="#{result["name"]}">{html.escape(result["title"])}</a></li>' for result in results)
    body = "\n".join(section(result, folder / result["name"] / f"{result['name']}.svg") for result in results)
    return document(DATA, "Hespas experiments", "Figures and tables of papers, reproduced.", f"<nav aria-label=Experiments><ul>{index}</ul></nav>\n{body}", STYLE)


def draw(results, folder):
    """An SVG for each experiment, by matplotlib in an environment of its own."""
    drawn = [folder / result["name"] / "results.json" for result in results if result["rows"] and "figure" in result["configuration"]]
    if not drawn:
        return
    done = subprocess.run([environment("figures"), HERE / "figure.py", *drawn], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Refused(f"the figures could not be drawn: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else 'no message'}", "--no-figure leaves them out")


def write(results, folder, work, figures):
    """Everything is made in `work` first, so that a failure leaves nothing half written."""
    work = work / "experiments"  # the temporary folder itself is its owner's alone
    work.mkdir()
    for result in results:
        (work / result["name"]).mkdir()
        (work / result["name"] / "results.json").write_text(as_json([result]), encoding="utf-8")
        (work / result["name"] / "results.csv").write_text(as_csv([result]), encoding="utf-8")
    missing = None
    try:
        if figures:
            draw(results, work)
    except Refused as error:  # told when the results are safe
        missing = error
    (work / "index.html").write_text(page(results, work), encoding="utf-8")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(work, folder, dirs_exist_ok=True)
    if missing:
        raise missing
