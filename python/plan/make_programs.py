#!/usr/bin/env python3
"""Programs of a plan's candidates and what `hespas run` says of them: the process that imports JAX.

    make_programs.py FOLDER HESPAS      called by search.py

Reads requests from stdin, a JSON line each: {"keys": MaxText's settings, "devices": N, "program": FILE.mlir.gz, "run": words of `hespas run`};
answers {"figures": ...} or {"error": why not}. A program that is there is not made again.
"""
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
from partition import early_hlo  # noqa: E402
from remesh import compiler, last_line, make_in_child  # noqa: E402

TAKEN = ("step_time_s", "step_time_sigma_s", "compute_time_s", "exposed_communication_s", "overlap_s", "flops", "flops_utilisation", "peak_memory_bytes",
         "memory_capacity_bytes", "model_flops_utilisation", "hardware_flops_utilisation", "energy_j", "price_per_hour")


def make(keys, devices, output, dumps):
    """Writes what each device runs; the process has to end then."""
    fewer_keys, fewer = carry_over.smaller(keys, devices)
    lower.prepare_environment(fewer)
    text = maxtext_like.text_of(fewer_keys, fewer)
    if fewer > 1:
        hlo = early_hlo(compiler(text, fewer), dumps)
        text = lower.partitioned_stablehlo(carry_over.on_devices(hlo, keys, devices))
    part = pathlib.Path(dumps) / "program.gz"
    lower.write(part, text)
    os.replace(part, output)


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
        in_layers = "/while" in after[name]  # some bodies of programs that were not partitioned have but the loop's own name
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
        with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as dumps:
            error = make_in_child(make, dumps, request["keys"], request["devices"], program)
        if error is not None:
            return {"error": error}
    run = subprocess.run([hespas, "run", program, *request["run"], "--format", "json", "-q", "--no-what-if"], stdin=subprocess.DEVNULL,
                         capture_output=True, text=True, check=False)
    return {"figures": figures(json.loads(run.stdout))} if run.returncode == 0 else {"error": last_line(run.stderr)}


def main():
    folder, hespas = sys.argv[1:]
    import jax  # noqa: F401 - once, for all children; nothing of it runs here
    for line in sys.stdin:
        print(json.dumps(answer(folder, hespas, json.loads(line))), flush=True)


if __name__ == "__main__":
    sys.exit(main())
