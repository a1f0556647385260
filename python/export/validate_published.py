#!/usr/bin/env python3
"""`hespas validate --set published-training`: predicted against published step times of MaxText and other JAX programs.

    hespas validate --set published-training                                     all rows of data/published/rows.csv
    hespas validate --set published-training --only v6e- --format md             some of them
    hespas validate --set published-training --rows MINE.csv --programs FOLDER   a table with the same columns

A row's program is exported on the first use (`hespas export --maxtext --target-devices`) and kept in --programs, with the configuration.
"""
import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import published  # noqa: E402
from environments import Refused  # noqa: E402
from export import data_folder, guarded  # noqa: E402

COLUMNS = ("id", "device", "devices", "published_s", "predicted_s", "sigma_s", "error", "exposed_s", "peak_gb", "confidence", "remark")
EXIT_ABOVE_BOUND = 6


def options():
    parser = argparse.ArgumentParser(prog="hespas validate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", required=True, choices=["published-training"])
    parser.add_argument("--rows", help="table of rows (default: data/published/rows.csv)")
    parser.add_argument("--only", action="append", default=[], metavar="TEXT", help="rows whose name holds the text")
    parser.add_argument("--programs", help="folder of exported programs (default: data/published/programs)")
    parser.add_argument("--format", choices=("table", "md", "csv", "json"), default="table")
    parser.add_argument("--bounds", action="store_true", help="an error above its bound ends with exit status 6")
    parser.add_argument("--jobs", type=int, default=2, help="rows at a time")
    return parser.parse_args()


def hespas(*words):
    return subprocess.run([os.environ.get("HESPAS_COMMAND", "hespas"), *map(str, words)], capture_output=True, text=True, check=False)


def program_of(row, folder):
    """The row's program: a ready one, or exported now."""
    there = [path for path in folder.glob(f"{row['id']}.mlir*") if not path.name.endswith(".json")]
    if there:
        return there[0]
    folder.mkdir(parents=True, exist_ok=True)
    configuration = folder / f"{row['id']}.yml"
    published.write(row, configuration)
    made = hespas("export", configuration, "--maxtext", "--target-devices", row["devices"], "--stage", "partitioned", "--gzip", "--name", row["id"],
                  "--output", folder)
    if made.returncode != 0:
        raise Refused(f"{row['id']}: {made.stderr.strip()}")
    path = pathlib.Path(made.stdout.split()[-1])
    pathlib.Path(f"{path}.json").unlink(missing_ok=True)
    return path.rename(folder / f"{row['id']}.mlir.gz")


def predicted(row, folder):
    flags = [f"--xla-flag={flag}" for flag in published.xla_flags(row)]
    done = hespas("run", program_of(row, folder), "--device", published.device_of(row), "--system", published.system(row), "--format", "json", *flags)
    if done.returncode != 0:
        raise Refused(f"{row['id']}: {done.stderr.strip()}")
    answer = json.loads(done.stdout)
    measured = float(row["step_time_s"]) if row["step_time_s"] else None
    return {"id": row["id"], "device": row["device"], "devices": int(row["devices"]), "published_s": measured, "predicted_s": answer["step_time_s"],
            "sigma_s": answer["step_time_sigma_s"], "error": measured and answer["step_time_s"] / measured - 1, "exposed_s": answer["exposed_communication_s"],
            "peak_gb": answer["peak_memory_bytes"] / 1e9, "confidence": row["confidence"], "remark": published.remark(row)}


def attempt(row, folder):
    try:
        return predicted(row, folder)
    except Refused as error:
        sys.stderr.write(f"warning: {error}\n")
        return None


def summary(rows):
    """Mean absolute error, median, bias and largest, of rows of high and medium confidence, together and by vendor."""
    sure = [row for row in rows if row["confidence"] != "low"]
    parts = {"all": sure, "NVIDIA": [row for row in sure if not row["device"].startswith("TPU")],
             "TPU": [row for row in sure if row["device"].startswith("TPU")]}
    return [{"rows": name, "count": len(part), "mean_absolute_error": statistics.fmean(abs(row["error"]) for row in part),
             "median_absolute_error": statistics.median(abs(row["error"]) for row in part), "bias": statistics.fmean(row["error"] for row in part),
             "largest": max(abs(row["error"]) for row in part)} for name, part in parts.items() if part]


SAME = ("source", "model", "device", "seq", "per_device_batch", "grad_accum", "precision", "quantisation", "attention", "remat", "scan", "optimizer")


def families(rows, settings):
    """Rows that differ in nothing but the number of devices, from the fewest on."""
    found = {}
    for row in rows:
        entry = settings[row["id"]]
        found.setdefault(tuple(entry[name].split("@")[0] for name in SAME), []).append(row)
    return [sorted(family, key=lambda row: row["devices"]) for family in found.values()]


def scaling(rows, settings):
    """Step time of the fewest devices over that of more: the efficiency of weak scaling; None where a step is not published."""
    found = []
    for first, *more in families(rows, settings):
        for row in more:
            published_share, predicted_share = (first[key] / row[key] if first[key] and row[key] else None for key in ("published_s", "predicted_s"))
            found.append({"id": row["id"], "from_devices": first["devices"], "devices": row["devices"], "published_efficiency": published_share,
                          "predicted_efficiency": predicted_share, "difference": published_share and predicted_share - published_share,
                          "confidence": row["confidence"]})
    return found


def scaling_lines(found, markdown):
    heads = ["row", "devices", "published", "predicted", "difference", "confidence"]
    cells = [[row["id"], f"{row['from_devices']} to {row['devices']}", f"{100 * row['published_efficiency']:.1f} %",
              f"{100 * row['predicted_efficiency']:.1f} %", f"{100 * row['difference']:+.1f} points", row["confidence"]] for row in found]
    return ["", "efficiency of weak scaling:", "", *as_lines(heads, cells, markdown)] if found else []


def shown(row):
    return [row["id"], row["device"], str(row["devices"]), f"{row['published_s']:.3f}", f"{row['predicted_s']:.3f}", f"{row['sigma_s']:.3f}",
            f"{100 * row['error']:+.1f} %", f"{row['exposed_s']:.3f}", f"{row['peak_gb']:.1f}", row["confidence"], row["remark"]]


def as_lines(heads, rows, markdown):
    if markdown:
        return ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads), *("| " + " | ".join(row) + " |" for row in rows)]
    widths = [max(len(row[at]) for row in [heads, *rows]) for at in range(len(heads))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in [heads, *rows]]


def printed(rows, sums, scaled, form):
    if form == "json":
        return json.dumps({"schema_version": 1, "rows": rows, "summary": sums, "scaling": scaled}, indent=2)
    if form == "csv":
        return "\n".join([",".join(COLUMNS), *(",".join(f'"{value}"' if isinstance(value, str) else f"{value:.6g}" for value in
                                                         (row[name] for name in COLUMNS)) for row in rows)])
    heads = ["row", "device", "devices", "published [s]", "predicted [s]", "sigma [s]", "error", "exposed [s]", "peak [GB]", "confidence", "remark"]
    own = [[each["rows"], str(each["count"]), *(f"{100 * each[key]:+.1f} %" if key == "bias" else f"{100 * each[key]:.1f} %" for key in
                                                ("mean_absolute_error", "median_absolute_error", "bias", "largest"))] for each in sums]
    lines = as_lines(heads, [shown(row) for row in rows], form == "md")
    return "\n".join([*lines, "", *as_lines(["high and medium confidence", "rows", "mean error", "median", "bias", "largest"], own, form == "md"), *scaling_lines(scaled, form == "md")])


def main():
    arguments = options()
    folder = data_folder() / "published"
    path = pathlib.Path(arguments.rows or folder / "rows.csv")
    if not path.is_file():
        raise Refused(f"there is no table `{path}`", "its columns are described in data/published/README.md", 1)
    rows = [row for row in csv.DictReader(path.open(newline="")) if not arguments.only or any(text in row["id"] for text in arguments.only)]
    programs = pathlib.Path(arguments.programs or folder / "programs")
    with concurrent.futures.ThreadPoolExecutor(max(1, arguments.jobs)) as pool:
        found = [row for row in pool.map(lambda row: attempt(row, programs), rows) if row]
    sums = summary(found)
    scaled = scaling(found, {row["id"]: row for row in rows})
    print(printed(found, sums, scaled, arguments.format))
    limits = json.loads((folder / "bounds.json").read_text()) if arguments.bounds else {}
    above = [each for each in sums for key, limit in limits.get(each["rows"], {}).items() if abs(each[key]) > limit]
    above += [each for each in scaled if arguments.bounds and each["confidence"] != "low" and abs(each["difference"]) > limits["scaling"]["difference"]]
    return EXIT_ABOVE_BOUND if above or len(found) < len(rows) else 0


if __name__ == "__main__":
    guarded(main)
