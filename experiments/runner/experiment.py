#!/usr/bin/env python3
"""`hespas experiment`: the paper's experiments, and ours after it, one command each.

    hespas experiment --list
    hespas experiment llama3                                    a table of times and errors
    hespas experiment llama3 --output out                       also results.csv, results.json, a figure and a page
    hespas experiment all --output build/experiments            every experiment, and index.html with all of them

An experiment is a folder with experiment.json; the name of such a folder of one's own is taken as well. experiments/README.md tells
what stands in it, what the statistics mean and where the programs come from.
"""
import argparse
import dataclasses
import difflib
import json
import os
import pathlib
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SHIPPED = HERE.parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "python" / "export")]

import documents  # noqa: E402
import kernels  # noqa: E402
import output  # noqa: E402
import published_steps  # noqa: E402
import steps  # noqa: E402
import trends  # noqa: E402
import tutorial  # noqa: E402
from environments import Refused  # noqa: E402
from export import guarded  # noqa: E402

KINDS = {"steps": steps.rows, "kernels": kernels.rows, "tutorial": tutorial.rows, "published": published_steps.rows}
STATISTICS = {"tutorial": lambda configuration, rows: tutorial.reasons(configuration), "published": published_steps.statistics}
TOLD = 10  # failed rows
REQUIRED = ("title", "origin", "about", "kind")


def options():
    parser = argparse.ArgumentParser(prog="hespas experiment", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="experiments (--list), folders with an experiment.json, or `all`")
    parser.add_argument("--list", action="store_true", help="the experiments that ship")
    parser.add_argument("--output", type=pathlib.Path, help="folder for NAME/results.csv, NAME/results.json, NAME/NAME.svg and index.html")
    parser.add_argument("--format", choices=("table", "csv", "json", "md"), default="table", help="what goes to stdout")
    for each in ("systems", "workloads", "sources"):
        parser.add_argument(f"--{each}", type=lambda text: text.split(","), default=[], metavar="A,B", help=f"only these {each} of the experiment")
    parser.add_argument("--tool", action="append", default=[], metavar="ESTIMATOR=PATH", help="program of an external estimator, as in cocossim=perf_model")
    parser.add_argument("--tool-config", action="append", default=[], metavar="ESTIMATOR=FILE", help="its configuration, as in onnxim=npu.json")
    parser.add_argument("--no-figure", action="store_true", help="no SVG (figures need matplotlib, which comes from PyPI on the first call)")
    parser.add_argument("--document", type=pathlib.Path, help="also put the tables between the marks `<!-- experiment NAME -->` of this file")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="points at a time")
    return parser.parse_args()


def shipped():
    return sorted(path.parent.name for path in SHIPPED.glob("*/experiment.json"))


def folder_of(name):
    """An experiment that ships, hyphens for underscores allowed, or a folder of one's own."""
    for folder in (SHIPPED / name.replace("-", "_"), pathlib.Path(name)):
        if (folder / "experiment.json").is_file():
            return folder
    near = difflib.get_close_matches(name.replace("-", "_"), shipped(), 1)
    raise Refused(f"there is no experiment `{name}`", f"did you mean `{near[0]}`?" if near else "hespas experiment --list shows them", 2)


def load(folder):
    path = folder / "experiment.json"
    try:
        configuration = json.loads(path.read_text())
    except ValueError as error:
        raise Refused(f"{path}: {error}", "an experiment is a JSON object", 1) from error
    missing = [key for key in REQUIRED if not isinstance(configuration, dict) or key not in configuration]
    if missing:
        raise Refused(f"{path}: `{missing[0]}` is missing", "experiments/README.md lists the keys", 1)
    if configuration["kind"] not in KINDS:
        raise Refused(f"{path}: `{configuration['kind']}` is no kind of experiment", f"it is one of {', '.join(KINDS)}", 1)
    return configuration


def pairs(option, words):
    given = dict(word.partition("=")[::2] for word in words)
    if not all(given.values()):
        raise Refused(f"--{option} takes ESTIMATOR=PATH", status=2)
    return given


@dataclasses.dataclass
class Context:
    """What the kinds of experiment need of the command line. `keep` tells whether a system, workload or source was asked for."""

    folder: pathlib.Path
    hespas: str
    threads: int
    tools: dict
    tool_configs: dict
    only: dict

    def keep(self, what, names):
        wanted = self.only[what] or names
        for name in wanted:
            if name not in names:
                near = difflib.get_close_matches(name, names, 1)
                raise Refused(f"`{name}` is none of the experiment's {what}", f"they are {', '.join(near or names)}", 2)
        return [name for name in names if name in wanted]


def run(name, arguments):
    folder = folder_of(name)
    configuration = load(folder)
    context = Context(folder, os.environ["HESPAS_COMMAND"], max(1, arguments.threads), pairs("tool", arguments.tool),
                      pairs("tool-config", arguments.tool_config), {each: getattr(arguments, each) for each in ("systems", "workloads", "sources")})
    began = time.monotonic()
    try:
        rows = KINDS[configuration["kind"]](configuration, context)
    except KeyError as error:
        raise Refused(f"{folder}/experiment.json: {error} is missing", "experiments/README.md lists the keys", 1) from error
    print(f"{folder.name}: {len(rows)} rows in {time.monotonic() - began:.1f} s", file=sys.stderr)
    return {"name": folder.name, **{key: configuration[key] for key in REQUIRED}, "configuration": configuration, "rows": rows,
            "statistics": STATISTICS.get(configuration["kind"], lambda _, found: trends.statistics(found))(configuration, rows)}


def main():
    arguments = options()
    if arguments.list:
        for name in shipped():
            configuration = load(SHIPPED / name)
            print(f"{name:<17} {configuration['title']} ({configuration['origin']})")
        return 0
    if not arguments.names:
        raise Refused("which experiment?", "hespas experiment --list shows them; `all` runs all", 2)
    names = shipped() if arguments.names == ["all"] else arguments.names
    for name in names:
        folder_of(name)
    results = [run(name, arguments) for name in dict.fromkeys(names)]
    failed = [row for result in results for row in result["rows"] if row.get("error")]
    for row in failed[:TOLD]:
        print(f"warning: {row['system']}, {row['workload']}, {row['source']}: {row['error']}", file=sys.stderr)
    if failed[TOLD:]:
        print(f"warning: {len(failed) - TOLD} further rows failed", file=sys.stderr)
    if arguments.output:
        with tempfile.TemporaryDirectory(prefix="hespas-") as work:
            output.write(results, arguments.output, pathlib.Path(work), not arguments.no_figure)
    if arguments.document:
        documents.fill(arguments.document, results)
    print(output.text(results, arguments.format), end="")
    return 5 if failed else 0


if __name__ == "__main__":
    guarded(main)
