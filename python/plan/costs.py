"""What a candidate costs: the programs that it needs, and its figures from theirs.

Without pipeline stages that is the whole step's own program; of several microbatches two are simulated, and the rest repeats the second. With
stages each kind of stage is a program for one microbatch: its forward and backward times make the schedule, and what it does beside them (updates,
sums over the data axis) is done once a step.
"""
import dataclasses
import hashlib
import json
import math
import pathlib

import pipeline
import schedules
from candidates import INNER
from stages import PARTS, layers_of, part_of, parts_of

# XLA's flags for collectives that run beside computation, as NVIDIA's recipes for MaxText set them (dgxc-benchmarking)
FLAGS = {"pipelined": ("--xla_gpu_all_gather_combine_threshold_bytes=2147483648", "--xla_gpu_reduce_scatter_combine_threshold_bytes=16777216",
                       "--xla_gpu_enable_pipelined_all_gather=true", "--xla_gpu_enable_pipelined_reduce_scatter=true",
                       "--xla_gpu_enable_pipelined_all_reduce=true")}
ACCUMULATED = 2  # microbatches of the program that stands for more


def plain(candidate):
    """Without what is tried for the best alone."""
    return dataclasses.replace(candidate, flags="", ring=False)


def variants(candidate, flags, rings):
    """With XLA's flags, ring attention or both, as far as it can have them."""
    ways = (False, True) if rings and candidate.of["context"] > 1 else (False,)
    return [dataclasses.replace(candidate, flags=name, ring=ring) for ring in ways for name in ("", *flags) if name or ring]


@dataclasses.dataclass(frozen=True)
class Problem:
    keys: dict
    facts: object
    network: object
    flops: dict  # by rematerialisation, of one sequence
    passes: dict  # the same: seconds forward and backward on one device, without logits, and of logits
    kept: dict  # the same: bytes of a layer that the backward pass needs
    model_flops: float  # of one sequence, without recomputation
    peak: float  # FLOP/s of a device
    memory_bandwidth: float
    capacity: float  # bytes that a device may hold
    price: float  # of a device and hour; 0: unknown
    rate: float = float("inf")  # FLOP/s that no kernel exceeds, where less than the peak
    rings: bool = False  # whether ring attention is to be tried


@dataclasses.dataclass(frozen=True)
class Request:
    keys: tuple
    devices: int
    system: str
    flags: tuple = ()
    through_xla: bool = False  # one device's program, too

    @property
    def name(self):
        return hashlib.sha256(json.dumps([self.keys, self.devices, self.through_xla], sort_keys=True).encode()).hexdigest()[:16]

    def asked(self, folder, device, run_options=()):
        """The line that make_programs.py takes."""
        keys = {key: list(value) if isinstance(value, tuple) else value for key, value in self.keys}
        return {"keys": keys, "devices": self.devices, "through_xla": self.through_xla, "program": str(pathlib.Path(folder) / f"{self.name}.mlir.gz"),
                "run": ["--device", device, "--system", self.system, *(f"--xla-flag={flag}" for flag in self.flags), *run_options]}


def mesh_keys(candidate, sizes):
    """MaxText's flags for the mesh of one stage."""
    outer = dict(candidate.outer)
    keys = {}
    for axis in INNER:
        between = outer.get(axis, 1) if sizes[axis] > 1 else 1
        keys |= {f"dcn_{axis}_parallelism": between, f"ici_{axis}_parallelism": sizes[axis] // between}
    return keys


def request(problem, candidate, part="", data=None, most=ACCUMULATED):
    """The program of a stage, or of the whole step; `data`: size of the data axis, where it is not the candidate's; `most`: microbatches of it."""
    sizes = {axis: candidate.of[axis] for axis in INNER} | ({} if data is None else {"data": data})
    devices = math.prod(sizes.values())
    between = math.prod(part for axis, part in candidate.outer if sizes[axis] > 1)
    own = problem.keys
    keys = {**own, **mesh_keys(candidate, sizes), "remat_policy": candidate.remat,
            "per_device_batch_size": candidate.microbatch * sizes["data"] * sizes["fsdp"] * sizes["expert"] / devices,
            "gradient_accumulation_steps": 1 if part else min(candidate.microbatches, most),
            "shard_optimizer_over_data": bool(candidate.zero and sizes["data"] > 1),
            "shard_gradients_over_data": candidate.zero == 2 and sizes["data"] > 1, **({"context_parallel_strategy": "ring"} if candidate.ring else {})}
    if part:
        dense = int(own["first_num_dense_layers"]) if part == "first" else 0
        keys |= {"pipeline_part": "middle" if part == "longer" else part, "base_num_decoder_layers": layers_of(problem.facts, part, candidate.stages),
                 "first_num_dense_layers": dense}
    return Request(tuple(sorted((key, value if not isinstance(value, list) else tuple(value)) for key, value in keys.items())), devices,
                   problem.network.of(devices, devices // between) if devices > 1 else "auto", FLAGS.get(candidate.flags, ()))


def systems(problem, candidate):
    """Networks of a stage with and without the data axis; nothing where one of them cannot be said."""
    parts = {axis: dict(candidate.outer).get(axis, 1) for axis in INNER}
    devices, found = problem.network.devices // candidate.stages, []
    for data in (1, candidate.of["data"]):
        between = math.prod(part for axis, part in parts.items() if axis != "data" or data > 1)
        own = devices // candidate.of["data"] * data
        found.append(problem.network.of(own, own // between) if own > 1 else "auto")
    return found if all(found) else []


def requests(problem, candidate):
    """By what each is for."""
    if candidate.stages == 1:
        return {"whole": request(problem, candidate)}
    moves = schedules.Schedule(candidate.schedule, 1, 1).moves_weights
    there = {part_of(problem.facts, at, candidate.stages) for at in range(candidate.stages)} | ({"middle"} if moves else set())
    parts = [part for part in PARTS if part in there]
    found = {part: request(problem, candidate, part) for part in parts}
    if candidate.of["data"] > 1:
        found |= {f"{part} alone": request(problem, candidate, part, 1) for part in parts}
    return found | {part: request(problem, candidate, part, 1) for part in ("kept", *(["frozen"] if moves else []))}


def figures(problem, candidate, answers):
    return (of_whole if candidate.stages == 1 else of_pipeline)(problem, candidate, answers)


def common(problem, candidate, step, others):
    """What follows from the step's time."""
    sequences = candidate.microbatch * candidate.microbatches * candidate.batch_parts
    devices = problem.network.devices
    return {**others, "step_time_s": step, "tokens_per_s": sequences * problem.facts.sequence / step,
            "mfu": problem.model_flops * sequences / (devices * problem.peak * step), "cost": step * devices * problem.price / 3600,
            "fits": others["peak_memory_bytes"] <= problem.capacity}


def of_whole(problem, candidate, answers):
    one = answers["whole"]
    more = candidate.microbatches / ACCUMULATED - 1 if candidate.microbatches > ACCUMULATED else 0
    step = one["step_time_s"] + more * one["accumulation_s"]
    grown = step / one["step_time_s"]
    return common(problem, candidate, step, {
        "sigma_s": (one["step_time_sigma_s"] or 0.0) * grown, "compute_s": one["compute_time_s"] * grown, "exposed_s": one["exposed_communication_s"] * grown,
        "bubble": 0.0, "peak_memory_bytes": one["peak_memory_bytes"], "energy_j": (one["energy_j"] or 0) * grown * problem.network.devices})


def transfer_time(problem, candidate):
    """Of what a microbatch hands to the next stage: each device sends its part."""
    inside = problem.network.devices // candidate.stages
    level = problem.network.between(inside)
    sent = 2 * candidate.microbatch * problem.facts.sequence * problem.facts.width / (candidate.of["context"] * candidate.of["tensor"])
    return level.latency + sent / level.bandwidth


def work_of(count, busy, alone, whole, rest):
    """Exposed communication, computation and energy of a device: `count` microbatches through its stages, and once what these do beside them."""
    passes = [one["forward_s"] + one["backward_s"] for one in alone]
    hidden = max(0.0, count * sum(passes) / len(passes) - busy)
    once = sum(max(0.0, each["exposed_communication_s"] - one["exposed_communication_s"]) for each, one in zip(whole, alone))
    exposed = max(0.0, count * sum(one["exposed_communication_s"] for one in alone) / len(alone) - hidden) + once
    each = sum(time / one["step_time_s"] * (one["energy_j"] or 0) for time, one in zip(passes, alone)) / len(alone)
    return exposed, busy + rest - exposed, (count - len(alone)) * each + sum(one["energy_j"] or 0 for one in whole)


def copied(problem, candidate):
    """DualPipe has each stage on two devices, which add their gradients of both their stages."""
    if candidate.schedule != "dualpipe":
        return 0.0
    level = problem.network.between(problem.network.devices // candidate.stages)
    return 2 * (level.latency + problem.facts.gradients(candidate.inner, candidate.stages) / level.bandwidth)


def hidden_in_pairs(one):
    """What two passes exchange hides behind each other's computation, as far as that lasts (DeepSeek-V3, section 3.2.1)."""
    return min(one["exposed_communication_s"], one["forward_s"] + one["backward_s"] - one["exposed_communication_s"])


def scheduled(problem, candidate, alone, frozen):
    schedule = schedules.Schedule(candidate.schedule, candidate.stages, candidate.microbatches, candidate.chunks)
    weights = max(0.0, alone.get("middle", alone["last"])["backward_s"] - frozen["backward_s"]) if frozen else 0.0
    times = [alone[part_of(problem.facts, at, candidate.stages)] for at in range(candidate.stages)]
    stages = [pipeline.Stage(one["forward_s"], one["backward_s"], min(weights, one["backward_s"]), hidden_in_pairs(one)) for one in times]
    return schedule, pipeline.run(schedule, stages, transfer_time(problem, candidate))


def accumulating(problem, candidate, one):
    """A microbatch of several, whose gradients are read and added to sums that are read and written. The program of a stage has but one."""
    if candidate.microbatches == 1:
        return one
    time = problem.facts.accumulated(candidate.inner, candidate.stages) / problem.memory_bandwidth
    return {**one, "backward_s": one["backward_s"] + time, "step_time_s": one["step_time_s"] + time}


def of_pipeline(problem, candidate, answers):
    parts = [part for part in PARTS if part in answers]
    alone = {part: answers.get(f"{part} alone", answers[part]) for part in parts}
    rest = {part: max(0.0, answers[part]["step_time_s"] - alone[part]["forward_s"] - alone[part]["backward_s"]) for part in parts}
    alone = {part: accumulating(problem, candidate, one) for part, one in alone.items()}
    schedule, made = scheduled(problem, candidate, alone, answers.get("frozen"))
    own = [parts_of(problem.facts, schedule, at) for at in range(candidate.stages)]
    step = max(end + sum(rest[part] for part in each) for end, each in zip(made.ends, own)) + copied(problem, candidate)
    busiest = max(range(candidate.stages), key=made.busy.__getitem__)
    its = own[busiest]
    exposed, computed, energy = work_of(candidate.microbatches, made.busy[busiest], [alone[part] for part in its], [answers[part] for part in its],
                                        sum(rest[part] for part in its))
    one = answers[its[-1]]
    kept = answers["kept"]["output_bytes"]
    memory = max(sum(answers[part]["peak_memory_bytes"] for part in each) + max(0.0, held - len(each)) * kept for each, held in zip(own, made.held))
    return common(problem, candidate, step, {
        "sigma_s": (one["step_time_sigma_s"] or 0.0) / one["step_time_s"] * step, "compute_s": computed, "exposed_s": exposed,
        "bubble": 1 - max(made.busy) / max(made.ends), "peak_memory_bytes": memory, "energy_j": energy * problem.network.devices})
