"""The tutorial's numbers: as the prototype printed them, with `--compat prototype`, as Hespas has them, and measured.

Each flow is run twice, with the prototype's choices and defects and without. A row of the configuration names its figure as FLOW.KEY.
"""
import concurrent.futures
import json
import pathlib
import re
import subprocess
import tempfile

from environments import ROOT, Refused
from export import data_folder
from steps import last_line

NODE = ROOT / "configs/nodes/A100_SXM_40GB/roofline/config.json"
DEVICE, SYSTEM = "A100_SXM_40GB", "A100_SXM_40GB_4GPU"
COMPAT = ["--compat", "prototype"]
NOTHING = "-"


def call(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Refused(f"{pathlib.Path(words[0]).name} {words[1]}: {last_line(done.stderr)}")
    return done.stdout


def traces(hespas, program, split, compat):
    """Statistics of hespas_chakra_gen, and what the network makes of its traces."""
    with tempfile.TemporaryDirectory(prefix="hespas-") as name:
        folder = pathlib.Path(name) / "traces"
        call(hespas.with_name("hespas_chakra_gen"), NODE, "--mlir_file", program, "--output", folder, "--num_npus", "4", *split, *compat)
        statistics = json.loads((folder / "module_stats.json").read_text())
        simulated = json.loads(call(hespas, "simulate", f"--workload-configuration={folder}/dev", "--system", SYSTEM,
                                    f"--comm-group-configuration={folder}/comm_group.json", "--format", "json"))
    return {**{key: value for key, value in statistics.items() if not isinstance(value, dict)}, **simulated["npus"][0],
            "npus": len(simulated["npus"])}


def analysis(hespas, program, words, compat):
    """Operations and kinds; the prototype's analyzer prints them."""
    if not compat:
        return json.loads(call(hespas, "analyze", program, *words, "--format", "json"))
    printed = call(hespas.with_name("hespas_mlir_analyzer"), program, *words)
    return {"total": int(re.search(r"Total Operators\W+(\d+)", printed)[1]), "unique": int(re.search(r"Unique Operators\W+(\d+)", printed)[1])}


def calibrated(hespas, program, compat):
    """The step from the plain export by the default model, which the prototype does not have."""
    if compat:
        return {}
    return json.loads(call(hespas, "run", program, "--device", DEVICE, "--system", SYSTEM, "--format", "json", "--quiet"))


def flows(hespas, plain, optimised):
    individual, linear = ["--split_fn", "individual_split", "--merge"], ["--split_fn", "linear_split"]
    return {
        "roofline": lambda compat: traces(hespas, optimised, individual, compat),
        "unoptimised": lambda compat: traces(hespas, plain, individual, compat),
        "linear": lambda compat: traces(hespas, plain, linear, compat),
        "analyzer": lambda compat: analysis(hespas, plain, [], compat),
        "analyzer_opt": lambda compat: analysis(hespas, optimised, [], compat),
        "analyzer_expanded": lambda compat: analysis(hespas, optimised, ["-e"], compat),
        "calibrated": lambda compat: calibrated(hespas, plain, compat),
    }


def shown(name, known, scale, digits):
    """The figure FLOW.KEY, scaled and rounded as the tutorial prints it."""
    if not name:
        return NOTHING
    flow, _, key = name.partition(".")
    value = known[flow].get(key)
    if value is None:
        return NOTHING
    return f"{value * scale:.{digits}f}"


def rows(configuration, context):
    """One row for each number of the tutorial."""
    hespas, folder = pathlib.Path(context.hespas), data_folder() / "workloads"
    wanted = flows(hespas, folder / configuration["plain"], folder / configuration["optimised"])
    with concurrent.futures.ThreadPoolExecutor(context.threads) as pool:
        sides = [{name: pool.submit(flow, compat) for name, flow in wanted.items()} for compat in (COMPAT, [])]
        old, new = ({name: side[name].result() for name in wanted} for side in sides)
    found = []
    for row in configuration["numbers"]:
        scale, digits = row.get("scale", 1), row.get("digits", 0)
        found.append({"system": SYSTEM, "workload": row["number"], "source": "tutorial", "number": row["number"], "tutorial": row["tutorial"],
                      "compat": shown(row.get("figure"), old, scale, digits), "ours": shown(row.get("ours", row.get("figure")), new, scale, digits),
                      "measured": row.get("measured", NOTHING), "why": "; ".join(row["why"])})
    return found


def reasons(configuration):
    """What the words in the column `why` mean."""
    return {"reasons": [{"why": word, "explanation": text} for word, text in configuration["reasons"].items()]}
