"""How to run a row of a plan: its mesh in JAX, MaxText's flags, and the commands that predict it again."""
import math
import shlex

from candidates import INNER
from costs import mesh_keys, requests
from stages import stage_layers


def mesh(candidate, node):
    """Axes in MaxText's order, outermost first, with the parts of them between and within nodes; stages share the nodes that they do not fill."""
    sizes = {axis: candidate.of[axis] for axis in INNER}
    keys = mesh_keys(candidate, sizes)
    names = [axis for axis in INNER if sizes[axis] > 1]
    between = [keys[f"dcn_{axis}_parallelism"] for axis in names]
    within = [keys[f"ici_{axis}_parallelism"] for axis in names]
    if candidate.stages > 1:
        shared = math.gcd(candidate.stages, max(1, node // math.prod(within)))
        names, between, within = ["pipeline", *names], [candidate.stages // shared, *between], [shared, *within]
    return {"axis_names": names, "shape": [a * b for a, b in zip(between, within)], "between_nodes": between, "within_nodes": within}


def maxtext(problem, candidate):
    """The keys that differ from the configuration that was given."""
    sizes = {axis: candidate.of[axis] for axis in INNER}
    keys = {key: value for key, value in mesh_keys(candidate, sizes).items() if value != 1}
    each = candidate.microbatch * candidate.batch_parts / problem.network.devices
    keys |= {"remat_policy": candidate.remat, "shard_optimizer_over_data": bool(candidate.zero)} | ({"context_parallel_strategy": "ring"} if candidate.ring else {})
    if candidate.stages == 1:
        return keys | {"per_device_batch_size": each, "gradient_accumulation_steps": candidate.microbatches}
    own = mesh(candidate, problem.network.node)
    stages = {f"{where}_pipeline_parallelism": own[key][0] for where, key in (("dcn", "between_nodes"), ("ici", "within_nodes")) if own[key][0] > 1}
    return keys | stages | {"per_device_batch_size": each * candidate.microbatches,
                   "num_pipeline_microbatches": candidate.microbatches, "num_pipeline_repeats": candidate.chunks}


def text_of(problem, arguments, row):
    """A file of commands."""
    candidate, own = row["candidate"], mesh(row["candidate"], problem.network.node)
    flags = [f"{key}={str(value).lower() if isinstance(value, bool) else value}" for key, value in maxtext(problem, candidate).items()]
    lines = [f"# {row['name']}", "# JAX:", f"#   devices = jax.experimental.mesh_utils.create_hybrid_device_mesh({tuple(own['within_nodes'])}, {tuple(own['between_nodes'])})",
             f"#   mesh = jax.sharding.Mesh(devices, {tuple(own['axis_names'])})", "# MaxText, beside the model's own:",
             f"#   {' '.join(flags)}"]
    if candidate.zero > 1:
        lines.append("# ZeRO 2: constrain the gradients to the sharding of the optimiser's state; MaxText has no key for it.")
    if candidate.stages > 1:
        lines.append(f"# Layers of the stages: {', '.join(map(str, stage_layers(problem.facts, candidate.stages)))}.")
        lines.append(f"# The schedule {candidate.schedule} needs a runtime with a program for each stage; MaxText's own pipeline runs in lockstep.")
    for part, request in requests(problem, candidate).items():
        words = ["hespas", "run", f"programs/{request.name}.mlir.gz", "--device", arguments.device, "--system", request.system, *(f"--xla-flag={flag}" for flag in request.flags), *arguments.run_options]
        lines.append(f"{shlex.join(words)}  # {part}")
    return "\n".join(lines) + "\n"


def write(folder, problem, arguments, rows):
    for at, row in enumerate(rows, 1):
        (folder / f"{at:02}.sh").write_text(text_of(problem, arguments, row))
