#!/usr/bin/env python3
"""Configurations of data/published/parallelism.csv as `hespas plan` estimates them, beside what was measured.

    python3 python/plan/validate_plans.py [--only TEXT]      prints errors, and how well the order of each model's configurations is met

The rows are Megatron-LM's; ours are MaxText's programs with the same dimensions, mesh, schedule, types, attention and recomputation, of which
megatron.py says what Megatron holds and waits for.
"""
import argparse
import asyncio
import collections
import csv
import itertools
import math
import os
import pathlib
import statistics
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "export")]

from environments import INSIDE, jax_python  # noqa: E402
from export import data_folder, guarded, value_of  # noqa: E402

AXES = {"tp": "tensor", "cp": "context", "pp": "pipeline", "dp": "data", "ep": "expert"}


def candidate_of(row, net):
    """Who gets the devices of a node first: as Megatron-LM numbers its ranks."""
    from candidates import AXES as ORDER, Candidate, places

    stated = {key: int(size) for key, size in (each.split("=") for each in row["parallelism"].split(";"))}
    given = {AXES[key]: size for key, size in stated.items() if key in AXES}
    given["data"] //= given.get("expert", 1)  # experts are spread over the data-parallel ranks
    sizes = tuple((axis, given[axis]) for axis in ORDER if given.get(axis, 1) > 1)
    count = int(row["global_batch"]) // int(row["micro_batch"]) // (given["data"] * given.get("expert", 1))
    chunks = stated.get("vpp", 1)
    schedule = "interleaved" if chunks > 1 else "1f1b" if given.get("pipeline", 1) > 1 else ""
    outer = places({axis: size for axis, size in sizes if axis != "pipeline"}, net.node)[0]
    return Candidate(sizes, outer, int(row["micro_batch"]), count, row["recompute"], int(row["zero"]) if given["data"] > 1 else 0, schedule, chunks)


def keys_of(row):
    import maxtext_config

    own = {key: value_of(value) for key, value in (each.split("=") for each in row["settings"].split(";") if each)}
    if "mlp_activations" in own:
        own["mlp_activations"] = [own["mlp_activations"]]
    return maxtext_config.settings(os.devnull, {"model_name": row["model_name"] or "default", "base_num_decoder_layers": int(row["layers"]), **own,
                                                "hardware": "gpu", "max_target_length": int(row["seq"]), "per_device_batch_size": 1})


def system_of(row):
    """Nodes of eight; their network where the row states it."""
    return f"{row['device']} 8x{int(row['devices']) // 8} {row['network']}" if row["network"] else "auto"


async def estimated(workers, row, folder):
    """The row's time and memory, or why there are none."""
    import costs
    import maxtext_config
    import megatron
    import network
    import pipeline
    import schedules
    from facts import facts

    keys = {**keys_of(row), **megatron.KEYS}
    rate = network.memory_bandwidth(row["device"])
    problem = costs.Problem(keys, facts(keys), network.network_of(system_of(row), row["device"], int(row["devices"])), {}, {}, {}, 0.0, 1.0, rate, float("inf"), 0.0)
    candidate, answers = candidate_of(row, problem.network), {}
    for part, request in megatron.requests(problem, candidate).items():
        answer = await workers.ask(request.asked(folder, row["device"]))
        if "error" in answer:
            return answer["error"]
        answers[part] = answer["figures"]
    schedule = schedules.Schedule(candidate.schedule, candidate.stages, candidate.microbatches, candidate.chunks)
    held = pipeline.run(schedule, [pipeline.Stage(1.0, 2.0)] * candidate.stages).held
    return {"step_time_s": megatron.step_time(problem, candidate, answers),
            "peak_memory_bytes": megatron.peak_memory(maxtext_config.configuration(keys), candidate, held)}


def ranks(values):
    order = sorted(values)
    return [order.index(value) + (order.count(value) - 1) / 2 for value in values]


def rank_correlation(one, other):
    """Spearman's."""
    return statistics.correlation(ranks(one), ranks(other)) if len(set(one)) > 1 and len(set(other)) > 1 else float("nan")


def out_of_order(measured, ours):
    """Pairs of rows that the model has the other way round, and those of them whose measured steps differ by less than 5 %."""
    pairs = itertools.combinations(zip(measured, ours), 2)
    wrong = [abs(math.log(one / other)) for (one, mine), (other, its) in pairs if (one - other) * (mine - its) < 0]
    return len(wrong), sum(each < math.log(1.05) for each in wrong)


async def rows_of(rows, folder):
    from workers import Workers

    async with Workers([sys.executable, HERE / "make_programs.py", folder, os.environ["HESPAS_COMMAND"]], len(rows)) as workers:
        return await asyncio.gather(*(estimated(workers, row, folder) for row in rows))


def shown(rows, found):
    groups = collections.defaultdict(list)
    for row, one in zip(rows, found):
        if isinstance(one, str):
            print(f"{row['id']}: {one}")
            continue
        measured, memory = float(row["step_time_s"]), float(row["peak_memory_gib"] or "nan")
        time_error, memory_error = one["step_time_s"] / measured - 1, one["peak_memory_bytes"] / 2**30 / memory - 1
        tokens = int(row["global_batch"]) * int(row["seq"])
        groups[row["model"]].append((measured / tokens, one["step_time_s"] / tokens, time_error, memory_error))
        held = f"  {memory:>7.2f} GiB {memory_error:>+7.1%}" if row["peak_memory_gib"] else ""
        print(f"{row['id']:<50} {measured:>9.4g} s {one['step_time_s']:>9.4g} s {time_error:>+7.1%}{held}")
    for model, each in groups.items():
        measured, ours, times, memories = zip(*each)
        held = "" if any(map(math.isnan, memories)) else f", of memory {statistics.fmean(map(abs, memories)):.1%}"
        wrong, near = out_of_order(measured, ours)
        print(f"{model}: {len(each)} rows, rank correlation {rank_correlation(measured, ours):.2f}, mean absolute error of time "
              f"{statistics.fmean(map(abs, times)):.1%}{held}; {wrong} of {math.comb(len(each), 2)} pairs are out of order, {near} of them closer than 5 %")


def main(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="rows whose name holds the text")
    parser.add_argument("--without", help="no rows whose name holds the text")
    arguments = parser.parse_args(words)
    rows = [row for row in csv.DictReader((data_folder() / "published/parallelism.csv").open(newline=""))
            if arguments.only in row["id"] and not (arguments.without and arguments.without in row["id"])]
    with tempfile.TemporaryDirectory(prefix="hespas-", ignore_cleanup_errors=True) as folder:
        shown(rows, asyncio.run(rows_of(rows, folder)))


def start():
    words = sys.argv[1:]
    if words[:1] == [INSIDE]:
        return main(words[1:])
    python = jax_python()
    return os.execv(python, [python, __file__, INSIDE, *words])


if __name__ == "__main__":
    guarded(start)
