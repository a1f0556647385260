"""A plan of the user's own JAX function or unpartitioned program: how to spread the devices over the axes of its mesh.

XLA's partitioner makes what each device runs for each mesh, as in `hespas shard`. Rematerialisation, microbatches and stages are the program's own; where a
function has parameters for them, --set names values to try.
"""
import asyncio
import collections
import dataclasses
import os
import pathlib
import re
import subprocess
import sys

import answer
import candidates
import options
import own_text
import why
from environments import Refused
from export import settings
from network import network_of
from own_layouts import layouts
from own_rows import Choice, estimated, unequal
from search import OBJECTIVES

KINDS = re.compile(r"\.py(:\w+)?$|\.mlir(\.gz)?$")
# JAX of a dimension that a mesh does not divide (0.7.2: sharding.py, and pjit.py where jit has the shardings)
UNEVEN = re.compile(r"is partitioned \d+ times, but|should be divisible by \d+, but it is equal to")


def is_own(model):
    return bool(KINDS.search(model))


def named_axes(text, known=None):
    """Those of --axes, among which a program's are known."""
    axes = [axis for axis in text.split(",") if axis]
    if not axes:
        raise Refused("--axes names no axis", "give the axes of the mesh, for example --axes data,tensor", 2)
    return list(options.listed(text, axes if known is None else known, "axis"))


def exported(arguments, axes, scratch):
    """A function as programs, by the values of --set of which there are several; on a mesh whose first axis has all devices, or the next one that divides its arguments."""
    rows, swept = settings(arguments.set)
    words = [word for each in arguments.arg for word in ("--arg", each)] + [word for each in arguments.set for word in ("--set", each)]
    meshes, dimensions = sorted(candidates.factorisations(arguments.devices, axes), key=lambda sizes: -sizes[axes[0]]), own_text.of_arguments(arguments.arg)
    said = ""
    for sizes in [sizes for sizes in meshes if not own_text.indivisible(dimensions, sizes)] or meshes[:1]:  # where none is left, JAX says why
        mesh = ",".join(f"{axis}={size}" for axis, size in sizes.items())
        done = subprocess.run([os.environ["HESPAS_COMMAND"], "export", arguments.model, "--axes", mesh, "--stage", "lowered", "--name", "step", "--output", scratch,
                               *words], capture_output=True, text=True, check=False)
        said = said or done.stderr
        if not UNEVEN.search(done.stderr):
            break
    sys.stderr.write(said if UNEVEN.search(done.stderr) else done.stderr)
    if done.returncode != 0:
        raise Refused("", status=done.returncode)
    return {tuple((key, row[key]) for key in swept): path for row, path in zip(rows, done.stdout.splitlines())}


def refuse_others(arguments):
    """What only MaxText's models have."""
    of_models = {"--global-batch": arguments.global_batch, "--sample": arguments.sample, "--uneven-stages": arguments.uneven_stages,
                 "--remat": arguments.remat != options.REMATS, "--schedule": arguments.schedule != options.SCHEDULES}
    for option, given in of_models.items():
        if given:
            raise Refused(f"{option} is of MaxText's models", "shapes, rematerialisation and stages of a program are its own; parameters of a function are tried with --set KEY=A,B", 2)


def choices(arguments, scratch):
    """All configurations, those first that use the fewest axes, and how many meshes do not divide the arguments; on several nodes also other orders of the axes."""
    function = not KINDS.search(arguments.model).group(0).startswith(".mlir")
    if arguments.set and not function:
        raise Refused("--set is of models and functions", "a program has no configuration", 2)
    named = named_axes(",".join(candidates.AXES) if arguments.axes is None else arguments.axes)
    found, uneven, node = [], [], network_of(arguments.system, arguments.device, arguments.devices).node
    for parameters, program in (exported(arguments, named, scratch) if function else {(): arguments.model}).items():
        axes, dimensions = own_text.read(program)
        if not axes:
            raise Refused(f"`{arguments.model}` has no axis along which anything is divided",
                          "give arguments a sharding over a mesh (`hespas export` shows how), and name the axes of a function with --axes", 1)
        if arguments.axes is not None and not function:
            axes = named_axes(arguments.axes, axes)
        for sizes in candidates.factorisations(arguments.devices, axes):
            reason = own_text.indivisible(dimensions, sizes)
            uneven += [reason] if reason else []
            found += [] if reason else [Choice(str(program), parameters, order, node=node) for order in layouts(tuple(sizes.items()), node)]
    if not found:
        raise Refused(f"no mesh divides the arguments: {uneven[0]} is not whole", "change --devices, --axes or the sizes of the arguments", 5)
    return sorted(found, key=lambda choice: len(choice.axes)), len(uneven)


def asked(arguments, every):
    """The settings of --why, and the configurations that have them."""
    wanted = why.wanted(arguments.why, {axis for choice in every for axis, _ in choice.sizes}, every)
    alike = [choice for choice in every if choice.has(wanted)]
    if not alike:
        raise Refused(f"no configuration has {arguments.why}", "no mesh of as many devices has them all, or --axes or --set leave them out", 2)
    return alike


def compared(alike, found, objective):
    """The best row of those that --why asks for, and what had become of them."""
    rows = [row for choice, row in found.rows.items() if dataclasses.replace(choice, flags="") in alike]
    if not rows:
        tried = [choice for choice in alike if choice in found.failed]
        raise why.none_of(len(alike), len(tried), f"{tried[0]}: {found.failed[tried[0]]}")
    return min(rows, key=lambda row: (not row["fits"], row[objective], row["name"])), found.reasons


def planned(arguments, scratch):
    refuse_others(arguments)
    every, uneven = choices(arguments, scratch)
    visited = every[:arguments.evaluations]
    alike = asked(arguments, every) if arguments.why else []
    found = asyncio.run(estimated(arguments, scratch, visited, alike))
    rows = found.rows
    if not rows:
        raise Refused(f"no mesh could be estimated: {next(iter(found.failed.values()))}", status=5)
    objective = OBJECTIVES[arguments.objective]
    order = sorted(rows, key=lambda choice: (rows[choice][objective], str(choice)))
    best = [choice for choice in order if rows[choice]["fits"]]
    if not best:
        least = min(rows.values(), key=lambda row: row["peak_memory_bytes"])
        raise Refused(f"no mesh fits into {least['capacity'] / 1e9:.4g} GB; nearest is {least['name']} with {least['peak_memory_bytes'] / 1e9:.4g} GB",
                      f"take {least['peak_memory_bytes'] / least['capacity']:.2f} times the memory, more devices, or a smaller batch", 5)
    steps = {"meshes refused: a dimension does not divide": uneven, "configurations": len(every), **collections.Counter(map(found.outcome, every))}
    fitting = [rows[choice] for choice in best]
    warning = unequal(fitting)
    if warning:
        sys.stderr.write(f"warning: {warning}\n")
    for at, choice in enumerate(best[:arguments.top] if arguments.output else (), 1):
        pathlib.Path(arguments.output, f"{at:02}.sh").write_text(choice.commands(arguments), encoding="utf-8")
    return answer.of_program(arguments, fitting, steps, compared(alike, found, objective) if alike else None)
