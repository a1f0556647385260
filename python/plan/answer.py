"""What a plan says: the best candidates, ties, the front of time and memory, the funnel."""
import collections
import dataclasses
import json
import pathlib
import sys

import bounds
import commands
import costs
import page
import sample
import why
from environments import Refused

SHOWN = (("step [s]", "step_time_s", "{:.4g}"), ("+-", "sigma_s", "{:.2g}"), ("tokens/s", "tokens_per_s", "{:.4g}"), ("MFU", "mfu", "{:.1%}"),
         ("memory [GB]", "peak_memory_bytes", "{:.3g}"), ("exposed [s]", "exposed_s", "{:.3g}"), ("bubble", "bubble", "{:.1%}"))


def tied(row, best):
    """Whether the difference is within one standard deviation of the model's error."""
    return row["step_time_s"] - best["step_time_s"] <= max(row["sigma_s"], best["sigma_s"])


def front(rows):
    """Candidates that no other beats in both time and memory, the fastest first."""
    found, least = [], float("inf")
    for row in sorted(rows, key=lambda row: (row["step_time_s"], row["peak_memory_bytes"], row["name"])):
        if row["peak_memory_bytes"] < least:
            found.append(row)
            least = row["peak_memory_bytes"]
    return found


def cells(row):
    """What is not known of a program of the user's own is a dash."""
    scaled = {**row, "peak_memory_bytes": row["peak_memory_bytes"] / 1e9}
    return ["-" if scaled[key] is None else form.format(scaled[key]) for _, key, form in SHOWN]


def table(rows, best):
    lines = [[name for name, _, _ in SHOWN] + ["", "configuration"]]
    lines += [[*cells(row), "=" if row is not best and tied(row, best) else "", row["name"]] for row in rows]
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    return ["  ".join([*(cell.rjust(width) for cell, width in zip(line[:-1], widths)), line[-1]]).rstrip() for line in lines]


def funnel(search, count, refused):
    """Counts in the order in which candidates leave: meshes first, then configurations of the others."""
    meshes = [(f"meshes refused: {reason}", number) for reason, number in refused.most_common()]
    return [*meshes, ("configurations", count), *((reason, number) for reason, number in search.funnel.items() if number)]


def gap(search, best):
    """How much faster than the best a configuration that was not visited could be at most, by its lower bound."""
    left = [search.least(candidate) for candidate in search.waiting]
    return max(0.0, 1 - min(left) / best[search.objective]) if left else 0.0


def least_needs(search):
    """What those that memory alone rules out need at least; others may be out for other reasons and need less than there is."""
    found = {str(candidate): (bounds.memory(search.problem, candidate), " or more") for candidate in search.reasons}
    return {name: need for name, need in found.items() if need[0] > search.problem.capacity}


def nearest_miss(search):
    """What to do where nothing fits."""
    if not search.rows and search.failed:
        return f"none of the {len(search.failed)} configurations that were tried can be estimated", search.failed[0][1]
    needs = {row["name"]: (row["peak_memory_bytes"], "") for row in search.rows} or least_needs(search)
    if not needs:
        reason, count = collections.Counter(search.reasons.values()).most_common(1)[0]
        return f"no configuration was estimated; of {count} of {len(search.reasons)}: {reason}", "allow other axes or sizes of the mesh, or more evaluations"
    name, (held, more) = min(needs.items(), key=lambda each: (each[1][0], each[0]))
    over = held / search.problem.capacity
    return (f"no configuration fits into {search.problem.capacity / 1e9:.4g} GB; nearest is {held / 1e9:.4g} GB{more}: {name}",
            f"take {over:.2f} times the memory{more}, about as many times the devices with the same batch, or a smaller batch or sequence")


def of_program(arguments, rows, steps, other):
    """The answer for a program of the user's own, whose rows have no candidates and come the best first; `other`: the row of --why and what had become of those asked for."""
    best = rows[:arguments.top]
    steps = {reason: number for reason, number in steps.items() if number}
    if arguments.output:
        title = f"{arguments.model}: {arguments.devices} x {arguments.device}"
        page.write(pathlib.Path(arguments.output, "report.html"), title, page.Shown(rows, arguments.top, best[0]["mesh"], best[0]["capacity"], list(steps.items()), other and other[0]))
    if arguments.format == "json":
        print(json.dumps({"schema_version": 1, "devices": arguments.devices, "objective": arguments.objective, "best": best, "front": front(rows),
                          "funnel": steps, "gap": 0.0, "why": other and {**other[0], "were": dict(other[1])}}, indent=2))
        return 0
    print("\n".join([*table(best, best[0]), "= within one standard deviation of the best", "", "front of time and memory", *table(front(rows), best[0]), "",
                     *(f"{number:>8}  {reason}" for reason, number in steps.items()), *(["", *why.told(other[0], best[0], best[0]["capacity"], other[1])] if other else [])]))
    return 0


def as_json(row, search):
    return {"bound_s": search.bounds[row["candidate"]], "least_memory_bytes": bounds.memory(search.problem, row["candidate"])} | {key: value for key, value in row.items() if key != "candidate"} | {
        "settings": row["candidate"].settings(), "mesh": commands.mesh(row["candidate"], search.problem.network.node), "xla_flags": list(costs.FLAGS.get(row["candidate"].flags, ()))}


def standing(search, row):
    """How many configurations are better than a row, and how many more their lower bounds let be so."""
    return len(search.better(row)), len(search.open(row))


def told(arguments, space, search, count, refused, other, drawn):
    best = search.best
    if not best:
        for candidate, error in search.failed[:1]:
            sys.stderr.write(f"warning: {candidate}: {error}\n")
        message, help_text = nearest_miss(search)
        raise Refused(message, help_text, 5)
    shown, steps, left = best[:arguments.top], funnel(search, count, refused), gap(search, best[0])
    title = f"{space.batch} sequences of {search.problem.facts.sequence} tokens on {space.devices} x {arguments.device}"
    if arguments.output:
        folder = pathlib.Path(arguments.output)
        commands.write(folder, search.problem, arguments, shown)
        mesh = commands.mesh(best[0]["candidate"], search.problem.network.node)
        page.write(folder / "report.html", f"{arguments.model}: {title}", page.Shown(best, arguments.top, mesh, search.problem.capacity, steps, other and other[0]))
    if arguments.format == "json":
        print(json.dumps({"schema_version": 1, "devices": space.devices, "sequences": space.batch, "objective": arguments.objective,
                          "best": [as_json(row, search) for row in shown], "front": [as_json(row, search) for row in front(best)], "funnel": dict(steps),
                          "gap": left, "why": as_json(other[0], search) | {"better": standing(search, other[0]), "were": dict(other[1])} if other else None,
                          "sample": dataclasses.asdict(drawn) | {"at_most": drawn.most} if drawn else None}, indent=2))
        return 0
    print(f"{title}\n")
    print("\n".join(table(shown, best[0])))
    print("= within one standard deviation of the best\n\nfront of time and memory")
    print("\n".join(table(front(best), best[0])))
    print("\n" + "\n".join(f"{number:>8}  {reason}" for reason, number in steps))
    if left:
        print(f"\nby its lower bound no configuration that was not visited takes less than {100 * (1 - left):.0f} % of the best")
    if other:
        print("\n" + "\n".join(why.told(other[0], best[0], search.problem.capacity, other[1])))
        known, possible = standing(search, other[0])
        print(f"  {known} of {count} configurations are known to be better, and by lower bounds at most {possible} more")
    if drawn:
        print("\n" + sample.told(drawn, "that" if other else "the best"))
    return 0
