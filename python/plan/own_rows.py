"""Configurations of the user's own program: the parameters that made it, the sizes of its mesh, XLA's flags; and what `hespas run` says of them."""
import asyncio
import collections
import dataclasses
import math
import os
import pathlib
import re
import shlex
import sys

import clusters
import costs
import options
import own_layouts
from search import NOT_VISITED, OBJECTIVES, SAME
from shard import unequal_work
from workers import Workers

MOST = 6  # that --why estimates beside the search
REMESH = pathlib.Path(__file__).resolve().parents[1] / "export" / "remesh.py"


@dataclasses.dataclass(frozen=True)
class Choice:
    program: str
    parameters: tuple  # (name, value) of those of which several are tried
    sizes: tuple  # (axis, size), outermost first
    flags: str = ""  # of costs.FLAGS
    node: int = 0  # devices of one; 0: all of them

    @property
    def mesh(self):
        sizes = [each for each in self.sizes if each[1] > 1]
        return own_layouts.mesh(sizes, self.node or math.prod(size for _, size in sizes))

    @property
    def between(self):
        return "+".join(f"{axis}:{size}" for axis, size in zip(self.mesh["axis_names"], self.mesh["between_nodes"] or ()) if size > 1)

    def settings(self):
        """As texts, as --why takes them; axes of size 1 are left out."""
        own = {axis: size for axis, size in self.sizes if size > 1} | dict(self.parameters) | {"between_nodes": self.between, "flags": self.flags}
        return {key: str(value) for key, value in own.items() if value != ""}

    def __str__(self):
        return ",".join(f"{key}={value}" for key, value in self.settings().items())

    @property
    def axes(self):
        return [axis for axis, size in self.sizes if size > 1]

    def has(self, settings):
        return all(({axis: "1" for axis, _ in self.sizes} | self.settings()).get(key) == value for key, value in settings.items())

    @property
    def file(self):
        """Of what each device runs."""
        return re.sub(r"[^\w.-]", "_", "-".join(f"{key}{value}" for key, value in (*self.sizes, *self.parameters))) + ".mlir.gz"

    @property
    def words(self):
        return [f"--xla-flag={flag}" for flag in costs.FLAGS.get(self.flags, ())]

    def request(self, folder):
        """The line that remesh.py takes."""
        return {"program": self.program, "sizes": dict(self.sizes), "order": [axis for axis, _ in self.sizes], "output": str(folder / self.file), "made": bool(self.flags), "run": self.words}

    def commands(self, arguments):
        """How to run it: its mesh in JAX, the function's parameters, and the command that predicts it again."""
        shape, given = tuple(self.mesh["shape"]), " ".join(f"{key}={value}" for key, value in self.parameters)
        run = ["hespas", "run", f"programs/{self.file}", "--device", arguments.device, "--system", arguments.system, *self.words, *arguments.run_options]
        lines = [f"# {self}", "# JAX:", f"#   mesh = jax.make_mesh({shape}, {tuple(self.axes)})", *([f"# parameters of the function: {given}"] if given else [])]
        return "\n".join([*lines, shlex.join(run)]) + "\n"


def row_of(choice, result, arguments):
    throughput, step = result["throughput"] or {}, result["step_time_s"]
    capacity = arguments.capacity or result["memory_capacity_bytes"] or float("inf")
    price = arguments.price or result["price_per_hour"] or 0
    return {"name": str(choice), "settings": choice.settings(), "parameters": dict(choice.parameters), "step_time_s": step,
            "sigma_s": result["step_time_sigma_s"] or 0.0, "tokens_per_s": throughput.get("per_second"),
            "mfu": result["model_flops_utilisation"], "peak_memory_bytes": result["peak_memory_bytes"] or 0,
            "exposed_s": result["exposed_communication_s"], "compute_s": result["compute_time_s"], "bubble": 0.0,
            "cost": step * arguments.devices * price / 3600, "energy_j": (result["energy_j"] or 0) * arguments.devices,
            "fits": (result["peak_memory_bytes"] or 0) <= capacity, "capacity": capacity, "batch": throughput.get("per_step"),
            "flops_all_devices": result["flops"] * arguments.devices, "error": None, "xla_flags": list(costs.FLAGS.get(choice.flags, ())),
            "mesh": choice.mesh}


class Estimates:
    """Rows and errors by choice, and what had become of those of --why when the search ended."""

    def __init__(self):
        self.rows, self.failed, self.reasons = {}, {}, collections.Counter()

    def outcome(self, choice):
        if choice in self.rows:
            return "estimated" if self.rows[choice]["fits"] else "estimated, but does not fit"
        return "failed" if choice in self.failed else NOT_VISITED

    def fit(self, choices):
        return [choice for choice in choices if choice in self.rows and self.rows[choice]["fits"]]


async def estimated(arguments, folder, visited, alike):
    """Of what is visited. The best fitting ones are estimated with XLA's flags, too, where GPUs have them; where none fits of those that --why asks for, so are some of these."""
    command = [sys.executable, REMESH, visited[0].program, folder, os.environ["HESPAS_COMMAND"], "--device", arguments.device, "--system",
               arguments.system, *arguments.run_options, "--format", "json", "-q"]
    found, objective, flags = Estimates(), OBJECTIVES[arguments.objective], () if options.is_tpu(arguments.device) else costs.FLAGS
    async with Workers(clusters.command(arguments, command), len(visited), arguments.workers if arguments.on else 0) as workers:
        async def ask(some):
            new = [choice for choice in some if choice not in found.rows and choice not in found.failed]
            for choice, each in zip(new, await asyncio.gather(*(workers.ask(choice.request(arguments.programs)) for choice in new))):
                if "result" in each:
                    found.rows[choice] = row_of(choice, each["result"], arguments)
                else:
                    found.failed[choice] = each["error"]

        async def vary(some):
            await ask([dataclasses.replace(choice, flags=name) for name in flags for choice in some])

        await ask(visited)
        await vary(sorted(found.fit(visited), key=lambda choice: (found.rows[choice][objective], str(choice)))[:arguments.top])
        found.reasons = collections.Counter(map(found.outcome, alike))
        if not found.fit(alike):
            await ask([choice for choice in alike if found.outcome(choice) == NOT_VISITED][:MOST])
        await vary(found.fit(alike))
    plain = {choice: row[objective] for choice, row in found.rows.items()}
    found.rows = {choice: row for choice, row in found.rows.items() if not choice.flags or row[objective] < SAME * plain[dataclasses.replace(choice, flags="")]}
    return found


def unequal(rows):
    """A sentence where rows do unequal work; rematerialisation may be a parameter, so that FLOPs count among rows with the same ones alone."""
    groups = collections.defaultdict(list)
    for row in rows:
        groups[tuple(row["parameters"].items())].append(row)
    return next(filter(None, map(unequal_work, [[{**row, "flops_all_devices": None} for row in rows], *groups.values()])), "")
