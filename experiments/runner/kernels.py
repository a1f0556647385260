"""Experiments over single matmuls: estimators in the program by one table each, external tools matmul by matmul."""
import concurrent.futures
import csv
import io
import json
import pathlib
import shutil
import subprocess

from environments import Refused, environment
from export import data_folder
from steps import last_line

SECONDS_OF_A_CALL = "600"


def squares(configuration):
    return [{"name": str(n), "b": 1, "m": n, "n": n, "k": n} for n in configuration["squares"]]


def spread(rows, count):
    """`count` of the rows, evenly over their order, first and last included."""
    return rows if len(rows) <= count else [rows[round(i * (len(rows) - 1) / (count - 1))] for i in range(count)]


def table(configuration):
    """Measured matmuls, spread over their times."""
    wanted = configuration.get("matmuls") or configuration["products"]  # the old name
    with open(data_folder() / "measured" / wanted["table"], newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["key"] == wanted["key"] and row["dtypes"] == wanted["dtypes"]]
    rows.sort(key=lambda row: float(row["latency_us"]))
    return [{**{key: int(row[key]) for key in "bmnk"}, "name": "x".join(row[key] for key in "bmnk"), "measured_s": float(row["latency_us"]) * 1e-6}
            for row in spread(rows, wanted["count"])]


def program(matmul, dtype):
    lhs, rhs, result = (f"tensor<{matmul['b']}x{matmul[rows]}x{matmul[columns]}x{dtype}>" for rows, columns in ("mk", "kn", "mn"))
    return (f"func.func @main(%a: {lhs}, %b: {rhs}) -> {result} {{\n  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], "
            f"contracting_dims = [2] x [1] : ({lhs}, {rhs}) -> {result}\n  return %0 : {result}\n}}\n")


def built_in(context, source, device, matmuls, dtype):
    lines = "".join("gemm,{},{b},{m},{n},{k}\n".format(dtype, **matmul) for matmul in matmuls)
    done = subprocess.run([context.hespas, "estimate", "--kernels", "-", "--device", device, "--estimator", source["estimator"], "--format", "csv"],
                          input="op,dtype,b,m,n,k\n" + lines, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return [{"error": last_line(done.stderr)} for _ in matmuls]
    return [{"step_time_s": float(row["predicted_us"]) * 1e-6, "step_time_sigma_s": float(row["sigma_us"]) * 1e-6}
            for row in csv.DictReader(io.StringIO(done.stdout))]


def driven(context, source, device, matmuls, dtype, tool):
    """An external tool; a matmul on which it fails is a row with what it said."""
    words = ["--tool-path", tool, "--tool-timeout", SECONDS_OF_A_CALL]
    if source["estimator"] in context.tool_configs:
        words += ["--tool-config", context.tool_configs[source["estimator"]]]

    def one(matmul):
        done = subprocess.run([context.hespas, "estimate", "-", "--optimise", "none", "--device", device, "--estimator", source["estimator"],
                               "--format", "json", *words], input=program(matmul, dtype), capture_output=True, text=True, check=False)
        if done.returncode != 0 or done.stderr:
            return {"error": last_line(done.stderr)}
        return {"step_time_s": json.loads(done.stdout)[0]["time_s"]}

    with concurrent.futures.ThreadPoolExecutor(context.threads) as pool:
        return list(pool.map(one, matmuls))


def recorded(context, source, matmuls):
    """Recorded cycles at the recorded clock; a matmul without a record is a gap."""
    with open(context.folder / "recorded.csv", newline="", encoding="utf-8") as file:
        times = {row["size"]: float(row["cycles"]) / float(row["clock_ghz"]) * 1e-9 for row in csv.DictReader(file) if row["tool"] == source["estimator"]}
    return [{"step_time_s": times[matmul["name"]]} if matmul["name"] in times else None for matmul in matmuls]


def tool_of(context, source):
    """The program that an estimator drives: the one given, else of a locked environment, else the one in PATH, else none."""
    name = source["estimator"]
    if name in context.tools:
        return context.tools[name]
    if "environment" in source:
        try:
            return str(pathlib.Path(environment(source["environment"])).parent / source["program"])
        except Refused:
            return None
    found = shutil.which(source["program"])
    return found if name in context.tool_configs or not source.get("needs_config") else None


def times(context, source, device, matmuls, dtype):
    """(a row's figures for each matmul, where they come from)."""
    if "program" not in source:
        return built_in(context, source, device, matmuls, dtype), "built in"
    tool = tool_of(context, source)
    if tool:
        return driven(context, source, device, matmuls, dtype, tool), "run"
    if source.get("recorded"):
        return recorded(context, source, matmuls), "recorded"
    return [None for _ in matmuls], "not installed"


def rows(configuration, context):
    """Every matmul by every source; `note` tells whether a tool was run or its record read."""
    matmuls = squares(configuration) if "squares" in configuration else table(configuration)
    kept = context.keep("workloads", [matmul["name"] for matmul in matmuls])
    matmuls = [matmul for matmul in matmuls if matmul["name"] in kept]
    chosen = context.keep("sources", [source["name"] for source in configuration["sources"]])
    dtype = configuration["dtype"]
    found = []
    for system in context.keep("systems", list(configuration["systems"])):
        device = configuration["systems"][system]
        for source in configuration["sources"]:
            if source["name"] not in chosen:
                continue
            figures, note = times(context, source, device, matmuls, dtype)
            found += [{"system": system, "device": device, "workload": matmul["name"], "measured_s": matmul.get("measured_s"),
                       "source": source["name"], "note": note, **figure} for matmul, figure in zip(matmuls, figures) if figure]
    order = {matmul["name"]: i for i, matmul in enumerate(matmuls)}
    return sorted(found, key=lambda row: order[row["workload"]])
