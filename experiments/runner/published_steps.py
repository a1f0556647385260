"""Published steps of MaxText and Paxml: predicted beside published, and the efficiency of weak scaling (python/export/validate_published.py)."""
import concurrent.futures
import csv
import re
from operator import itemgetter

import validate_published
from environments import Refused
from export import data_folder

FRAMEWORKS = {"AI-Hypercomputer": "MaxText", "NVIDIA/dgxc-benchmarking": "MaxText", "NVIDIA/JAX-Toolbox": "Paxml", "mlcommons": "MLPerf", "apple": "AXLearn"}
KEYS = {"step_time_s": "predicted_s", "step_time_sigma_s": "sigma_s", "exposed_communication_s": "exposed_s", "measured_s": "published_s"}


def framework(row):
    if "paxml/" in row["source"].lower():
        return "Paxml"
    return next((name for start, name in FRAMEWORKS.items() if row["source"].startswith(start)), "other")


def grown(row, devices):
    """The row's run on more devices: as many more replicas between hosts or slices. Nobody published its step."""
    factor = devices // int(row["devices"])
    mesh, found = re.subn(r"dcn_data=(\d+)", lambda match: f"dcn_data={factor * int(match.group(1))}", row["mesh"])
    if not found:
        raise Refused(f"{row['id']}: the mesh `{row['mesh']}` has no dcn_data to grow", "name another row in `beyond`", 1)
    return row | {"id": f"{row['id'].rpartition('-')[0]}-{devices}", "devices": str(devices), "hosts": str(factor * int(row["hosts"])), "mesh": mesh,
                  "step_time_s": ""}


def settings(configuration):
    """All rows that the experiment has, by name."""
    with open(data_folder() / "published" / "rows.csv", newline="", encoding="utf-8") as file:
        rows = {row["id"]: row for row in csv.DictReader(file) if row["confidence"] in configuration["confidence"]}
    for each in configuration.get("beyond", []):
        rows |= {row["id"]: row for row in (grown(rows[each["row"]], devices) for devices in each["devices"])}
    return rows


def point(row):
    result = {"system": row["device"], "device": row["device"], "workload": row["id"], "source": framework(row), "npus": int(row["devices"]),
              "note": row["confidence"] if row["step_time_s"] else "not published"}
    try:
        found = validate_published.predicted(row, data_folder() / "published" / "programs")
    except Refused as error:
        return result | {"error": str(error)}
    return result | {key: found[name] for key, name in KEYS.items()} | {"peak_memory_bytes": round(1e9 * found["peak_gb"])}


def rows(configuration, context):
    known = settings(configuration)
    chosen = {key: context.keep(what, list(dict.fromkeys(key(row) for row in known.values())))
              for what, key in (("systems", itemgetter("device")), ("workloads", itemgetter("id")), ("sources", framework))}
    wanted = [row for row in known.values() if all(key(row) in values for key, values in chosen.items())]
    with concurrent.futures.ThreadPoolExecutor(context.threads) as pool:
        return list(pool.map(point, wanted))


def percent(share):
    return share and 100 * share


def statistics(configuration, rows):
    """Errors by vendor, and the efficiency of weak scaling."""
    found = [{"id": row["workload"], "device": row["device"], "devices": row["npus"], "published_s": row["measured_s"], "predicted_s": row["step_time_s"],
              "error": row["measured_s"] and row["step_time_s"] / row["measured_s"] - 1, "confidence": row["note"]} for row in rows if "error" not in row]
    sums = validate_published.summary([row for row in found if row["published_s"]])
    errors = [{"rows": each["rows"], "count": each["count"], "mean_error_percent": 100 * each["mean_absolute_error"],
               "median_error_percent": 100 * each["median_absolute_error"], "bias_percent": 100 * each["bias"], "worst_error_percent": 100 * each["largest"]}
              for each in sums]
    scaling = [{"row": each["id"], "from_devices": each["from_devices"], "devices": each["devices"], "published_percent": percent(each["published_efficiency"]),
                "predicted_percent": percent(each["predicted_efficiency"]), "difference_points": percent(each["difference"])}
               for each in validate_published.scaling(found, settings(configuration))]
    return {"errors": errors, "scaling": scaling}
