"""Experiments over whole training steps: one `hespas run` for each system, workload and source."""
import concurrent.futures
import csv
import json
import pathlib
import subprocess

from environments import ROOT, Refused
from export import data_folder

FIGURES = ("step_time_s", "step_time_sigma_s", "compute_time_s", "communication_time_s", "exposed_communication_s", "flops_utilisation",
           "memory_bandwidth_utilisation", "peak_memory_bytes", "fits_in_memory")


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line), lines[-1] if lines else "no message")


def measured(configuration, context):
    """{(system, workload): seconds} of the table that the configuration names, in the experiment's folder or data/measured."""
    if "measured" not in configuration:
        return {}
    name = configuration["measured"]
    path = next((path for path in (context.folder / name, data_folder() / "measured" / name) if path.is_file()), None)
    if path is None:
        raise Refused(f"there is no table `{name}`", "put it into the experiment's folder", 1)
    with open(path, newline="", encoding="utf-8") as file:
        return {(row["system"], row["workload"]): float(row["step_time_s"]) for row in csv.DictReader(file)}


def device_count(system):
    count = 1
    for extent in json.loads((data_folder() / "systems" / f"{system}.json").read_text())["network"]["npus_count"]:
        count *= extent
    return count


def places(context, point):
    """What stands for {names} in programs and options."""
    return {"system": point["system"], "device": point["device"], "workload": point["workload"], "npus": device_count(point["system"]),
            "programs": data_folder() / "workloads", "here": context.folder, "root": ROOT}


def estimate(context, source, point, program):
    """One row: what `hespas run` says of the point, or its error."""
    given = places(context, point)
    path = pathlib.Path(given["programs"]) / source.get("program", program).format(**given)
    device = source.get("device", "{device}").format(**given)
    words = [word.format(**given) for word in source.get("options", [])]
    row = {**point, "source": source["name"]}
    if not path.is_file():
        return row | {"error": f"there is no program {path}"}
    done = subprocess.run([context.hespas, "run", path, "--device", device, "--system", point["system"], "--format", "json",
                           "--quiet", *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return row | {"error": last_line(done.stderr)}
    result = json.loads(done.stdout)
    return row | {"npus": result["npus"]} | {figure: result[figure] for figure in FIGURES}


def recorded(configuration, context, points):
    """Rows that others measured or computed, from recorded.csv of the experiment's folder."""
    path = context.folder / configuration.get("recorded", "recorded.csv")
    if not path.is_file():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        known = {(row["system"], row["workload"]): row for row in csv.DictReader(file)}
    rows = [(point, known.get((point["system"], point["workload"]))) for point in points]
    return [{**point, "source": row["source"], "step_time_s": float(row["step_time_s"])} for point, row in rows if row]


def rows(configuration, context):
    """Every system, workload and source, in the order of the configuration; what `without` names is left out."""
    systems = context.keep("systems", list(configuration["systems"]))
    workloads = context.keep("workloads", configuration["workloads"])
    sources = configuration["sources"]
    chosen = context.keep("sources", [source["name"] for source in sources])
    left_out = {(system, workload) for each in configuration.get("without", []) for system in each["systems"] for workload in each["workloads"]}
    truth = measured(configuration, context)
    points = [{"system": system, "device": configuration["systems"][system], "workload": workload, "measured_s": truth.get((system, workload))}
              for system in systems for workload in workloads if (system, workload) not in left_out]
    work = [(source, point) for point in points for source in sources
            if source["name"] in chosen and point["system"] in source.get("systems", systems)]
    with concurrent.futures.ThreadPoolExecutor(context.threads) as pool:
        found = list(pool.map(lambda each: estimate(context, *each, configuration.get("program", "")), work))
    extra = [] if context.only["sources"] else recorded(configuration, context, points)
    names = chosen + [row["source"] for row in extra]
    order = {(point["system"], point["workload"]): i for i, point in enumerate(points)}
    return sorted(found + extra, key=lambda row: (order[row["system"], row["workload"]], names.index(row["source"])))
