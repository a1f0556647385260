"""A plan from its options: facts of the model, the search, the answer."""
import asyncio
import json
import os
import pathlib
import sys

import answer
import candidates
import clusters
import costs
import floors
import maxtext_config
import network
import options
import sample
import why
from environments import Refused
from export import data_folder
from facts import facts
from maxtext_models import MODELS
from models.remat import POLICIES
from search import Search
from workers import Workers

HERE = pathlib.Path(__file__).resolve().parent


async def one_device(arguments, keys, remats, workers):
    """Figures of one sequence on one device, by rematerialisation; nothing is divided there."""
    requests = []
    for remat in remats:
        own = {**keys, "remat_policy": remat, "per_device_batch_size": 1, "gradient_accumulation_steps": 1, "scan_layers": True,
               **{f"{where}_{axis}_parallelism": 1 for where in ("dcn", "ici") for axis in candidates.INNER}}
        request = costs.Request(tuple(sorted((key, str(value)) for key, value in own.items())), 1, "auto")
        requests.append({"keys": own, "devices": 1, "program": str(arguments.programs / f"{request.name}.mlir.gz"),
                         "run": ["--device", arguments.device, *arguments.run_options]})
    found = await asyncio.gather(*(workers.ask(request) for request in requests))
    for each in found:
        if "error" in each:
            raise Refused(f"one sequence on one device cannot be estimated: {each['error']}")
    return {remat: each["figures"] for remat, each in zip(remats, found)}


async def kept_by_layers(arguments, keys, model, remats, workers):
    """By rematerialisation: bytes that the backward pass needs of a layer and sequence."""
    bare = costs.Problem(keys, model, network.Network("auto", 1, ()), {}, {}, {}, 0.0, 1.0, 1.0, 1.0, 0.0)
    requests = (floors.of_few_layers(bare, costs.request(bare, candidates.Candidate((), (), 1, 1, remat), "kept"), weight_dtype="bfloat16") for remat in remats)
    found = await asyncio.gather(*(workers.ask(each.asked(arguments.programs, arguments.device, arguments.run_options)) for each in requests))
    return {remat: each["figures"]["output_bytes"] / (floors.CYCLES * model.cycle) if "figures" in each else 0.0 for remat, each in zip(remats, found)}


def problem_of(arguments, keys, model, net, singles, layers):
    one = next(iter(singles.values()))
    peak = one["flops"] / (one["flops_utilisation"] * one["step_time_s"])
    capacity = arguments.capacity or one["memory_capacity_bytes"]
    if not capacity:
        raise Refused(f"{arguments.device} does not state its memory", "say how much a device may hold: --limit memory=80GB", 2)
    price = arguments.price or one["price_per_hour"] or 0
    if arguments.objective == "cost" and not price:
        raise Refused(f"{arguments.device} does not state a price", "say what one device costs an hour: --price 2.5", 2)
    rate = network.memory_bandwidth(arguments.device)
    return costs.Problem(keys, model, net, {remat: each["flops"] for remat, each in singles.items()},
                         {remat: (each["forward_s"] + each["backward_s"] - each["logits_s"], each["logits_s"]) for remat, each in singles.items()},
                         layers, one["model_flops_utilisation"] * one["step_time_s"] * peak, peak, rate, capacity, price, sustained(arguments) * peak,
                         maxtext_config.rings(keys) and not maxtext_config.goes_round(keys))


def sustained(arguments):
    """Share of the peak rate that the calibrated model's matmuls on GPUs come near with growing size, and that none exceeds (tiles.cc)."""
    if options.is_tpu(arguments.device) or any(word.startswith("--estimator") for word in arguments.run_options):
        return 1.0
    families = json.loads((data_folder() / "models/calibrated.json").read_text(encoding="utf-8"))["families"]
    return families["gemm"]["constants"]["sustained_fraction"]["value"]


def progress(arguments):
    def told(search):
        if not arguments.quiet:
            best = search.best
            now = f"{best[0]['step_time_s']:.4g} s: {best[0]['name']}" if best else "none fits yet"
            sys.stderr.write(f"{len(search.rows)} estimated, {len(search.waiting)} left; best {now}\n")
    return told


async def planned(arguments, scratch):
    keys = options.settings(arguments)
    model = facts(keys)
    net = network.network_of(arguments.system, arguments.device, arguments.devices)
    remats = options.listed(arguments.remat, POLICIES, "rematerialisation policy")
    axes = candidates.AXES if arguments.axes is None else options.listed(arguments.axes, candidates.AXES, "axis")
    batch = options.sequences(arguments.global_batch, model.sequence, keys, arguments.devices)
    space = candidates.Space(arguments.devices, net.node, batch, axes, remats, options.schedules_of(arguments.schedule), arguments.uneven_stages,
                             0 if arguments.model in MODELS else round(float(keys["per_device_batch_size"]) * arguments.devices))
    found, refused = candidates.candidates(space, model)
    if not found:
        parts = filter(None, (candidates.indivisible(space, model, sizes) for sizes in candidates.factorisations(space.devices, space.axes)))
        raise Refused("no mesh divides the model: " + ", ".join(f"{reason} ({count})" for reason, count in refused.most_common()),
                      "change --devices, --axes or --global-batch" + "".join(f"; {part} is not whole" for part in list(parts)[:1]), 5)
    alike = why.asked(arguments.why, found, space, model) if arguments.why else []  # before the search, not after it
    command = [sys.executable, HERE / "make_programs.py", scratch, os.environ["HESPAS_COMMAND"]]
    async with Workers(clusters.command(arguments, command), len(found), arguments.workers if arguments.on else 0) as workers:
        singles = await one_device(arguments, keys, remats, workers)
        layers = await kept_by_layers(arguments, keys, model, remats, workers)
        problem = problem_of(arguments, keys, model, net, singles, layers)
        search = Search(problem, found, arguments)
        await search.run(workers, progress(arguments))
        await search.polish(workers)
        other = await why.compared(alike, search, workers) if alike and search.best else None
        than = other[0] if other else search.best[0] if search.best else None
        drawn = await sample.sampled(search, than, arguments.sample, workers) if than and arguments.sample else None
    return answer.told(arguments, space, search, len(found), refused, other, drawn)
