#!/usr/bin/env python3
"""Fits a family of data/models/field.json: field_fit.py TABLE.csv FAMILY [--without DEVICE] [--hespas BIN] (needs SciPy).

TABLE has the columns of data/measured/field_kernels.csv.gz. Devices count equally; the loss is the mean of
min(|ln(predicted / measured)|, 0.8), the search Nelder and Mead's in logarithms. Prints the constants and the errors of each device."""
import argparse
import csv
import gzip
import json
import math
import pathlib
import subprocess
import tempfile

import numpy
from scipy.optimize import minimize

FIXED = {"sigma", "fill", "split_us", "graph_start_us"}
ROOT = pathlib.Path(__file__).resolve().parent.parent


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table")
    parser.add_argument("family")
    parser.add_argument("--without", default="")
    parser.add_argument("--hespas", default=ROOT / "build/release/bin/hespas")
    parser.add_argument("--steps", type=int, default=400)
    return parser.parse_args()


def belongs(row, family):
    if row["op"] == "attention":
        return family == "attention_generation" if row["phase"] == "generation" else family == "attention_context"
    return row["op"] == "gemm" and family == {"bf16": "matmul"}.get(row["dtype"], row["dtype"])


def tables(options, folder):
    opened = gzip.open if options.table.endswith(".gz") else open
    with opened(options.table, "rt") as file:
        rows = [row for row in csv.DictReader(file) if belongs(row, options.family)]
    files = {}
    for device in sorted({row["device"] for row in rows}):
        files[device] = folder / f"{device}.csv"
        with files[device].open("w") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(row for row in rows if row["device"] == device)
    return files


def errors(options, data, device, file):
    command = [options.hespas, "estimate", "--kernels", file, "--device", device, "--format", "csv"]
    out = subprocess.run(command, env={"HESPAS_DATA_DIR": str(data)}, capture_output=True, text=True, check=True).stdout
    return numpy.array([math.log(float(row["predicted_us"]) / float(row["latency_us"])) for row in csv.DictReader(out.splitlines())])


def main():
    options = arguments()
    with tempfile.TemporaryDirectory() as temporary:
        data = pathlib.Path(temporary)
        for entry in (ROOT / "data").iterdir():
            if entry.name != "models":
                (data / entry.name).symlink_to(entry)
        (data / "models").mkdir()
        for entry in (ROOT / "data/models").iterdir():
            (data / "models" / entry.name).write_bytes(entry.read_bytes())
        model = json.loads((data / "models/field.json").read_text())
        constants = model["families"][options.family]["constants"]
        names = [name for name in constants if name not in FIXED]
        files = tables(options, data)

        def loss(x):
            for name, value in zip(names, x):
                constants[name]["value"] = math.exp(value)
            (data / "models/field.json").write_text(json.dumps(model))
            fitted = [device for device in files if device != options.without]
            return sum(numpy.minimum(abs(errors(options, data, d, files[d])), 0.8).mean() for d in fitted) / len(fitted)

        start = numpy.log([constants[name]["value"] for name in names])
        simplex = numpy.vstack([start, start + 0.25 * numpy.eye(len(names))])
        best = minimize(loss, start, method="Nelder-Mead", options={"maxfev": options.steps, "initial_simplex": simplex})
        loss(best.x)
        print(json.dumps({name: float(f"{math.exp(value):.4g}") for name, value in zip(names, best.x)}, indent=1))
        for device, file in files.items():
            relative = numpy.exp(errors(options, data, device, file)) - 1
            print(f"{device}: mean {100 * abs(relative).mean():.1f} %, bias {100 * relative.mean():+.1f} %")


if __name__ == "__main__":
    main()
