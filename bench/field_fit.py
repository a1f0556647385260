#!/usr/bin/env python3
"""Fits a family of data/models/field.json: field_fit.py TABLE.csv FAMILY [--without DEVICE] [--hespas BIN] (needs SciPy).

TABLE has the columns of data/measured/field_kernels.csv.gz; of the families dispatch and combine those of DeepEP's table (device, mode, nodes,
gpus, tokens, hidden, topk, experts, sms, dispatch_us, combine_us). Devices count equally, and so do a device's rows as a whole and its rows of
20 us and more. Least squares of a soft |ln(predicted / measured)| in the logarithms of the constants; a weak prior keeps those that the rows
do not determine where they are. Prints the constants, the errors of each device and the sigma that holds 68 % of
the rows."""
import argparse
import csv
import gzip
import json
import math
import pathlib
import subprocess
import tempfile

import numpy
from scipy.optimize import least_squares

FIXED = {"sigma", "graph_start_us"}
SOFT = 0.1  # of |ln|: squares below, linear above
PRIOR = 0.01  # of a constant's ln, beside the root of the mean loss
LONG_US = 20
ROOT = pathlib.Path(__file__).resolve().parent.parent


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table")
    parser.add_argument("family")
    parser.add_argument("--without", default="")
    parser.add_argument("--hespas", default=ROOT / "build/release/bin/hespas")
    parser.add_argument("--steps", type=int, default=15)
    return parser.parse_args()


def belongs(row, family):
    if row["op"] == "attention":
        return family == "attention_generation" if row["phase"] == "generation" else family == "attention_context"
    if row["op"] == "moe":
        return family == "experts"
    if row["op"] in ("dispatch", "combine"):
        return row["op"] == family
    return row["op"] == "gemm" and family == {"bf16": "matmul"}.get(row["dtype"], row["dtype"])


def each_kernel(row):
    """The row itself, or one of each kernel of an all-to-all."""
    if "combine_us" not in row:
        return [row]
    return [row | {"op": op, "latency_us": row[f"{op}_us"]} for op in ("dispatch", "combine") if float(row[f"{op}_us"]) > 0]


def tables(options, folder):
    opened = gzip.open if options.table.endswith(".gz") else open
    with opened(options.table, "rt") as file:
        rows = [kernel for row in csv.DictReader(file) for kernel in each_kernel(row) if belongs(kernel, options.family)]
    files = {}
    for device in sorted({row["device"] for row in rows}):
        files[device] = folder / f"{device}.csv"
        with files[device].open("w") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(row for row in rows if row["device"] == device)
    return files


def errors(options, data, device, file):
    """ln(predicted / measured), and measured us, of each row."""
    command = [options.hespas, "estimate", "--kernels", file, "--device", device, "--format", "csv"]
    out = subprocess.run(command, env={"HESPAS_DATA_DIR": str(data)}, capture_output=True, text=True, check=True).stdout
    rows = [(float(row["predicted_us"]), float(row["latency_us"])) for row in csv.DictReader(out.splitlines())]
    predicted, measured = numpy.array(rows).T
    return numpy.log(predicted / measured), measured


def residuals(ln, measured):
    long = measured >= LONG_US
    weight = 0.5 / len(ln) + 0.5 * long / max(1, long.sum())
    return numpy.sqrt(weight * 2 * SOFT * (numpy.sqrt(SOFT**2 + ln**2) - SOFT)) * numpy.sign(ln)


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

        start = numpy.log([constants[name]["value"] for name in names])
        fitted = [device for device in files if device != options.without]

        def loss(x):
            for name, value in zip(names, x):
                constants[name]["value"] = math.exp(value)
            (data / "models/field.json").write_text(json.dumps(model))
            rows = [residuals(*errors(options, data, device, files[device])) for device in fitted]
            return numpy.concatenate([*rows, PRIOR * math.sqrt(len(fitted)) * (x - start)])

        best = least_squares(loss, start, diff_step=0.01, max_nfev=options.steps, xtol=1e-4, ftol=1e-4)
        loss(best.x)
        print(json.dumps({name: float(f"{math.exp(value):.4g}") for name, value in zip(names, best.x)}, indent=1))
        logarithms = {device: errors(options, data, device, file)[0] for device, file in files.items()}
        for device, ln in logarithms.items():
            relative = numpy.exp(ln) - 1
            print(f"{device}: mean {100 * abs(relative).mean():.1f} %, bias {100 * relative.mean():+.1f} %")
        print(f"sigma: {numpy.quantile(abs(numpy.concatenate(list(logarithms.values()))), 0.68):.2f}")


if __name__ == "__main__":
    main()
