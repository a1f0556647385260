"""A plan of the user's own JAX function or unpartitioned program: how to spread the devices over the axes of its mesh.

XLA's partitioner makes what each device runs for each mesh, as in `hespas shard`; rematerialisation, microbatches and stages are the program's own.
"""
import asyncio
import os
import pathlib
import re
import subprocess
import sys

import answer
import candidates
import clusters
import options
from environments import Refused, program_text
from remesh import AXIS, MESH
from shard import unequal_work
from workers import Workers

HERE = pathlib.Path(__file__).resolve().parent
KINDS = re.compile(r"\.py(:\w+)?$|\.mlir(\.gz)?$")


def is_own(model):
    return bool(KINDS.search(model))


def exported(arguments, scratch):
    """A function as a program, on a mesh whose first axis has all devices."""
    axes = [axis for axis in arguments.axes.split(",") if axis]
    mesh = ",".join(f"{axis}={arguments.devices if at == 0 else 1}" for at, axis in enumerate(axes))
    words = [word for each in arguments.arg for word in ("--arg", each)] + [word for each in arguments.set for word in ("--set", each)]
    done = subprocess.run([os.environ["HESPAS_COMMAND"], "export", arguments.model, "--axes", mesh, "--stage", "lowered", "--name", "step", "--output", scratch,
                           *words], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise Refused("", status=done.returncode)  # it has said why
    return done.stdout.split()[-1]


def axes_of(path):
    """Axes of the program's mesh along which something is divided."""
    text = program_text(path)
    found = MESH.search(text)
    names = [name for name, _ in AXIS.findall(found.group(2))] if found else []
    body = text[found.end():] if found else ""
    used = [name for name in names if f'"{name}"' in body]
    if not used:
        raise Refused(f"`{path}` has no axis along which anything is divided",
                      "give arguments a sharding over a mesh (`hespas export` shows how), and name the axes of a function with --axes", 1)
    return used


def row_of(sizes, result, arguments):
    throughput, step = result["throughput"] or {}, result["step_time_s"]
    capacity = arguments.capacity or result["memory_capacity_bytes"] or float("inf")
    price = arguments.price or result["price_per_hour"] or 0
    names = [axis for axis, size in sizes.items() if size > 1]
    shape = [sizes[axis] for axis in names]
    return {"name": ",".join(f"{axis}={sizes[axis]}" for axis in names), "settings": {axis: str(sizes[axis]) for axis in names}, "step_time_s": step,
            "sigma_s": result["step_time_sigma_s"] or 0.0, "tokens_per_s": throughput.get("per_second") or 0.0,
            "mfu": result["model_flops_utilisation"] or 0.0, "peak_memory_bytes": result["peak_memory_bytes"] or 0,
            "exposed_s": result["exposed_communication_s"], "compute_s": result["compute_time_s"], "bubble": 0.0,
            "cost": step * arguments.devices * price / 3600, "energy_j": (result["energy_j"] or 0) * arguments.devices,
            "fits": (result["peak_memory_bytes"] or 0) <= capacity, "capacity": capacity, "batch": throughput.get("per_step"),
            "flops_all_devices": result["flops"] * arguments.devices, "error": None, "xla_flags": [],
            "mesh": {"axis_names": names, "shape": shape, "between_nodes": [1] * len(names), "within_nodes": shape}}


async def estimated(arguments, program, folder, meshes):
    command = [sys.executable, HERE.parent / "export" / "remesh.py", program, folder, os.environ["HESPAS_COMMAND"], "--device", arguments.device, "--system",
               arguments.system, *arguments.run_options, "--format", "json", "-q"]
    async with Workers(clusters.command(arguments, command), len(meshes), arguments.workers if arguments.on else 0) as workers:
        asked = ({"sizes": sizes, "output": str(arguments.programs / ("-".join(f"{a}{n}" for a, n in sizes.items()) + ".mlir.gz"))} for sizes in meshes)
        return await asyncio.gather(*(workers.ask(each) for each in asked))


def refuse_others(arguments):
    """What only MaxText's models have."""
    of_models = {"--why": arguments.why, "--global-batch": arguments.global_batch, "--sample": arguments.sample, "--uneven-stages": arguments.uneven_stages,
                 "--remat": arguments.remat != options.REMATS, "--schedule": arguments.schedule != options.SCHEDULES}
    for option, given in of_models.items():
        if given:
            raise Refused(f"{option} is of MaxText's models", "shapes, rematerialisation and stages of a program are its own; each mesh is a row of the table", 2)


def planned(arguments, scratch):
    refuse_others(arguments)
    function = not KINDS.search(arguments.model).group(0).startswith(".mlir")
    if arguments.set and not function:
        raise Refused("--set is of models and functions", "a program has no configuration", 2)
    program = exported(arguments, scratch) if function else arguments.model
    axes = axes_of(program)
    axes = [axis for axis in axes if axis in arguments.axes.split(",")] or axes
    every = sorted(candidates.factorisations(arguments.devices, axes), key=lambda sizes: sum(size > 1 for size in sizes.values()))
    meshes = every[:arguments.evaluations]
    answers = asyncio.run(estimated(arguments, program, scratch, meshes))
    rows = [row_of(sizes, each["result"], arguments) for sizes, each in zip(meshes, answers) if "result" in each]
    failed = [each["error"] for each in answers if "error" in each]
    if not rows:
        raise Refused(f"no mesh could be estimated: {failed[0]}", status=5)
    fitting = [row for row in rows if row["fits"]]
    if not fitting:
        least = min(rows, key=lambda row: row["peak_memory_bytes"])
        raise Refused(f"no mesh fits into {least['capacity'] / 1e9:.4g} GB; nearest is {least['name']} with {least['peak_memory_bytes'] / 1e9:.4g} GB",
                      "take more devices, larger ones, or a smaller batch", 5)
    steps = {"meshes": len(every), "estimated": len(rows), "failed": len(failed), "estimated, but does not fit": len(rows) - len(fitting),
             "not visited": len(every) - len(meshes)}
    warning = unequal_work(fitting)
    if warning:
        sys.stderr.write(f"warning: {warning}\n")
    return answer.of_program(arguments, fitting, steps)
