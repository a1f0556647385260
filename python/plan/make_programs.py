#!/usr/bin/env python3
"""Programs of a plan's candidates and what `hespas run` says of them: the process that imports JAX.

    make_programs.py FOLDER HESPAS      called by search.py

Reads requests from stdin, a JSON line each: {"keys": MaxText's settings, "devices": N, "program": FILE.mlir.gz, "run": words of `hespas run`};
answers {"figures": ...} or {"error": why not}. A program that is there is not made again. "through_xla": that of one device is as XLA's first passes leave it,
as those of several are.
"""
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "export"))

import carry_over  # noqa: E402
import lower  # noqa: E402
import maxtext_like  # noqa: E402
from maxtext_config import Unsupported  # noqa: E402
from models.mesh_rules import AXES  # noqa: E402
from partition import early_hlo  # noqa: E402
from remesh import compiler, last_line, make_in_child  # noqa: E402

TAKEN = ("step_time_s", "step_time_sigma_s", "compute_time_s", "exposed_communication_s", "overlap_s", "flops", "flops_utilisation", "peak_memory_bytes",
         "memory_capacity_bytes", "model_flops_utilisation", "hardware_flops_utilisation", "energy_j", "price_per_hour")


def on_one_level(keys):
    """With all parts of the axes within a slice: the partitioner does not see which device is where (carry_over.placed)."""
    found = dict(keys)
    for axis in AXES:
        between, within = (f"{where}_{axis}_parallelism" for where in ("dcn", "ici"))
        if int(keys.get(between, 1)) > 1:
            found |= {between: 1, within: int(keys[between]) * int(keys.get(within, 1))}
    return found


def partition(keys, devices, through_xla, output, dumps):
    """Writes what XLA's partitioner made, or the program as JAX lowered it. XLA's other work ends with the process."""
    lower.prepare_environment(devices)
    text = maxtext_like.text_of(keys, devices)
    write(output, early_hlo(compiler(text, devices), dumps) if through_xla else text, dumps)


def place(partitioned, keys, devices, through_xla, output, dumps):
    """Writes what each device runs."""
    text = partitioned.read_text()
    write(output, lower.partitioned_stablehlo(carry_over.on_devices(text, keys, devices)) if through_xla else text, dumps)


def write(output, text, dumps):
    """Whole or not at all: others may make the same."""
    part = pathlib.Path(dumps) / f"part{output.suffix}"
    lower.write(part, text)
    os.replace(part, output)


def made(folder, keys, devices, through_xla, program):
    """Why the program could not be made; None: it lies there. Configurations that differ in places alone share what the partitioner made."""
    try:
        fewer_keys, fewer = carry_over.smaller(keys, devices)
    except Unsupported as error:
        return str(error)
    alike = on_one_level(fewer_keys)
    name = hashlib.sha256(json.dumps([alike, fewer, through_xla], sort_keys=True).encode()).hexdigest()[:16]
    partitioned = pathlib.Path(folder) / f"{name}.hlo"
    with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as dumps:
        error = None if partitioned.exists() else make_in_child(partition, dumps, alike, fewer, through_xla, partitioned)
        return error or make_in_child(place, dumps, partitioned, keys, devices, through_xla, program)


def phase_of(name):
    """Of a kernel by JAX's name of it: the backward pass is what transposition made, recomputation included."""
    return "backward_s" if "transpose(jvp" in name else "forward_s" if "jvp(" in name else "update_s"


def phases(blocks):
    """Times of the forward pass, the backward pass and the rest, which add up to the step; of the loops over microbatches and layers, and of logits."""
    names = [phase_of(name) for name in blocks["names"]]
    before, after = zip(*(name.partition("jvp")[::2] for name in blocks["names"]))
    sums = {"forward_s": 0, "backward_s": 0, "update_s": blocks["idle_ps"], "accumulation_s": 0, "layers_s": 0, "layers_forward_s": 0, "logits_s": 0}
    for name, time in zip(blocks["name"], blocks["time_ps"]):
        sums[names[name]] += time
        sums["accumulation_s"] += time if "/while/body" in before[name] else 0
        # some bodies of programs that were not partitioned have but the loop's own name; without a loop each layer has its own
        in_layers = "/while" in after[name] or after[name].startswith("(layers/")
        sums["layers_s"] += time if in_layers else 0
        sums["layers_forward_s"] += time if in_layers and names[name] == "forward_s" else 0
        sums["logits_s"] += time if "logits" in blocks["names"][name] else 0
    return {name: time * 1e-12 for name, time in sums.items()}


def figures(result):
    memory = result["memory"] or {}
    return {name: result[name] for name in TAKEN} | phases(result["block_times"]) | {
        "argument_bytes": memory.get("argument_bytes"), "output_bytes": memory.get("output_bytes")}


def answer(folder, hespas, request):
    program = pathlib.Path(request["program"])
    if not program.exists():
        devices = request["devices"]
        error = made(folder, request["keys"], devices, devices > 1 or request.get("through_xla", False), program)
        if error is not None:
            return {"error": error}
    run = subprocess.run([hespas, "run", program, *request["run"], "--format", "json", "-q", "--no-what-if"], stdin=subprocess.DEVNULL,
                         capture_output=True, text=True, check=False)
    return {"figures": figures(json.loads(run.stdout))} if run.returncode == 0 else {"error": last_line(run.stderr)}


def main():
    folder, hespas = sys.argv[1:]
    # Once, for all children; nothing of it runs here.
    import jax  # noqa: F401
    from models import maxtext, maxtext_stage  # noqa: F401
    for line in sys.stdin:
        print(json.dumps(answer(folder, hespas, json.loads(line))), flush=True)


if __name__ == "__main__":
    sys.exit(main())
