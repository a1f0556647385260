#!/usr/bin/env python3
"""Fits `protocols`, launches, fractions and own shares of data/models/network.json: collective_fit.py (needs SciPy).

A price within a host is launch + 1 us a message that waits + start and ramp of NCCL's protocol + bytes at its rate (docs/simulation.md).
Which protocol that is says NCCL's own rule (src/network/nccl_tuning.cc), written down here again, so that the fit needs no build. Least
squares of a soft ln(predicted / measured) over all rows of a kind of link, in the logarithms of the constants. GB200's rows hold the wait of its ranks for each other's hosts,
too, which is fitted beside them and left out."""
import csv
import gzip
import math
import pathlib

import numpy
from scipy.optimize import least_squares

DATA = pathlib.Path(__file__).resolve().parent.parent / "data/measured"
OPS = ["all-reduce", "all-gather", "reduce-scatter"]
LL_MOST = [39, 87.7, 141, 282]  # llMaxBws, by generation
# speeds of a ring's channels in GB/s, by generation (src/network/nccl_tuning.cc)
BEFORE_HOPPER = [40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3]
SPEEDS = [
    BEFORE_HOPPER,
    BEFORE_HOPPER,
    [60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3],
    [90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18],
]
# bandwidth in GB/s, NCCL's share of it, clock in GHz, generation, efficiency of reductions in the switch
LINKS = {
    "NVLink 3": (300, 0.8, 1.41, 1, 0),
    "NVLink 4": (450, 0.824, 1.98, 2, 0.85),
    "NVLink 5": (900, 0.802, 1.965, 3, 0.74),
    "PCIe 4.0 x16": (32, 0.762, 2.52, 1, 0),
}
KEYS = {"A100_SXM_80GB": "NVLink 3", "H100_80GB": "NVLink 4", "sm_100_GB200": "NVLink 5", "L40S_48GB": "PCIe 4.0 x16"}
SOFT = 0.05
PRIOR = 1e-2  # of a constant that the rows do not determine
START = {"launch": 9000, "own": 0.4, "fraction": 1, "traffic": 1.2, "ll": 0.5, "ll_start": 0.3, "ll128": 0.8,
         "ll128_start": 1.5, "start": 2.5, "step": 0.5, "ramp": 0.5, "hosts": 9}  # fmt: skip
OF_OPERATION = ["launch", "own", "fraction"]


def rate_of_rings(bandwidth, generation):
    best = speed_of_best = 0
    for speed in SPEEDS[generation]:
        if best and speed <= 0.49 * speed_of_best:
            break
        rate = math.floor(bandwidth / speed + 1e-9) * speed
        if rate > best:
            best, speed_of_best = rate, speed
    return best or bandwidth


def chosen(kind, op, ranks, size, reducible):
    bandwidth, share, _, generation, efficiency = LINKS[kind]
    bus = rate_of_rings(bandwidth * share, generation)
    steps = (2 if op == "all-reduce" else 1) * (ranks - 1)
    pcie = kind.startswith("PCIe")
    hops = (1, 2.5, 5.7) if pcie else (0.6, 1.9, 3.4)
    rate = 1e3 * ranks / steps
    times = [(6.6 + steps * hops[0] + size / (rate * min(LL_MOST[generation], bus / 2)), "ll")]
    if not pcie:
        times.append((14 + steps * hops[1] + size / (rate * bus * 0.92), "ll128"))
    times.append((8.4 + steps * hops[2] + size / (rate * bus), "simple"))
    if op == "all-reduce" and efficiency and reducible and ranks >= 8:
        times.append((25 + size / (rate * bus * efficiency * 2 * 7 / 8), "nvls"))
    return min(times)[1]


def table():
    rows = list(csv.DictReader(gzip.open(DATA / "stream_collectives.csv.gz", "rt")))
    rows += [row for row in csv.DictReader(open(DATA / "collectives.csv")) if row["key"] == "sm_100_GB200"]
    for row in rows:
        kind, ranks, size = KEYS[row["key"]], int(float(row["N"])), float(row["bytes"])
        if row["op"] in OPS:
            yield kind, row["op"], ranks, size, chosen(kind, row["op"], ranks, size, row["dtype"] != "i8"), float(row["t_us"])


def predicted(row, x):
    kind, op, ranks, size, protocol, _ = row
    bandwidth, share, clock, _, efficiency = LINKS[kind]
    passes = 2 if op == "all-reduce" else 1
    steps = passes * (ranks - 1)
    launch = x["launch", op] / clock / 1e3
    pcie = kind.startswith("PCIe")

    def wire(fraction, own):
        return passes * size * (ranks - 1 + (0 if pcie else own)) / ranks / (bandwidth * share * 1e3 * fraction)

    time = launch + x.get(("hosts", op), 0)
    if protocol == "nvls":
        switch = size * (1 + 1 / ranks) * x["traffic"] / efficiency
        return time + 2 + 25 + switch / (bandwidth * share * 1e3 * x["fraction", op])
    if protocol == "ll":
        return time + steps + x["ll_start"] * launch * min(1, size / (4096 * ranks)) + wire(x["ll"], 1)
    if protocol == "ll128":
        return time + steps + x["ll128_start"] * launch + wire(x["ll128"], 1)
    sent = wire(x["fraction", op], x["own", op])
    return time + steps + launch * (x["start"] + x["step"] * steps) + sent + x["ramp"] * math.sqrt(launch * sent)


def fitted(rows, known, hosts):
    names = [(name, op) for name in OF_OPERATION + ["hosts"] * hosts for op in OPS]
    names = [n for n in names if n not in known] + [n for n in START if n not in OF_OPERATION + ["hosts"]]
    first = numpy.log([START[n[0] if isinstance(n, tuple) else n] for n in names])

    def losses(values):
        x = known | dict(zip(names, numpy.exp(values)))
        return [math.log(predicted(row, x) / row[-1]) for row in rows] + list(PRIOR * (values - first))

    found = least_squares(losses, first, loss="soft_l1", f_scale=SOFT, max_nfev=80)
    return known | dict(zip(names, map(float, numpy.exp(found.x))))


def main():
    rows = list(table())
    constants = {}
    for kind in [*LINKS, "other"]:
        own = [row for row in rows if row[0] in ({"NVLink 3", "NVLink 4"} if kind == "other" else {kind})]
        newest = kind == "NVLink 5"
        launches = {("launch", op): constants["NVLink 4"]["launch", op] for op in OPS} if newest else {}
        x = constants[kind] = fitted(own, launches, newest)
        errors = [predicted(row, x) / row[-1] - 1 for row in own]
        print(f"{kind}: mean error {100 * numpy.mean(numpy.abs(errors)):.1f} %, bias {100 * numpy.mean(errors):+.1f} %")
        for name, value in x.items():
            print(f"  {name if isinstance(name, str) else ' of '.join(name)}: {value:.4g}")


main()
