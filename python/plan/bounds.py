"""Lower bounds of a candidate's time and memory, from the model's facts alone: no estimate of ours is below them (tests hold that).

Time: the largest of computation (all FLOPs at the peak rate, and what a pipeline's ramps add), memory (the state is read and written once), and the
wire (what a device must take in of weights and gradients, over all its links at once). They may overlap, so they do not add up.
"""
import math


def batch_of(candidate):
    return candidate.microbatch * candidate.microbatches * candidate.batch_parts


def ramps(candidate):
    """Parts of a microbatch's work that a device waits while the pipeline fills and drains; zero-bubble schedules can fill nearly all of them."""
    return 0.0 if candidate.schedule in ("", "zb-h1") else (candidate.stages - 1) / candidate.chunks


def computation(problem, candidate):
    work = problem.flops[candidate.remat] * batch_of(candidate) / (problem.network.devices * problem.peak)
    return work * (1 + ramps(candidate) / candidate.microbatches)


def wire(problem, candidate):
    """Gradients are summed over the parts of the batch, and weights that are divided there are gathered, at least once each, in two bytes."""
    split = {"tensor": candidate.of["tensor"], "expert": candidate.of["expert"]}
    shared = candidate.of["data"] * candidate.of["fsdp"] * candidate.of["context"]
    taken = 2 * problem.facts.state(split, max(2, candidate.stages)) / problem.facts.state_bytes * (1 - 1 / shared)
    if candidate.stages == 1:  # of the layers alone, as those of a stage are
        taken *= 2
    gathered = candidate.of["fsdp"] * candidate.of["context"]
    return taken * (2 if gathered == shared else 1) / problem.network.all_links


def state(problem, candidate):
    return problem.facts.state(candidate.inner, candidate.stages, candidate.zero)


def memory_traffic(problem, candidate):
    return 2 * state(problem, candidate) / problem.memory_bandwidth


def time(problem, candidate):
    return max(computation(problem, candidate), wire(problem, candidate), memory_traffic(problem, candidate))


def exchange(problem, candidate, axes, volume):
    """A guess of a gather's time over some axes: all links of a group's part within a node carry what comes from other nodes."""
    outer = math.prod(dict(candidate.outer).get(axis, 1) for axis in axes)
    inner = math.prod(candidate.of[axis] for axis in axes) // outer
    levels = problem.network.levels
    inside = volume / levels[0].bandwidth if inner > 1 else 0.0
    return max(inside, volume / (inner * levels[-1].bandwidth) if outer > 1 else 0.0)


def expected(problem, candidate):
    """For the order of the search alone: a guess of the time, from how often such axes exchange how much in any model of layers."""
    of, facts, count = candidate.of, problem.facts, candidate.microbatches
    weights = 2 * facts.state({"tensor": of["tensor"], "expert": of["expert"]}, candidate.stages) / facts.state_bytes
    tokens = candidate.microbatch * facts.sequence * facts.layers / candidate.stages
    activations = 2 * tokens * facts.width
    hidden = 3 * count * exchange(problem, candidate, ("fsdp", "context"), weights) + exchange(problem, candidate, ("data",), 4 * weights)
    shown = 8 * count * exchange(problem, candidate, ("tensor",), activations / of["context"])
    shown += 4 * count * exchange(problem, candidate, ("context",), activations / of["tensor"] / 2)
    shown += 4 * count * exchange(problem, candidate, ("expert",), activations)
    work = computation(problem, candidate) / 0.6
    return max(work, hidden) + 0.3 * min(work, hidden) + shown


def expected_memory(problem, candidate, kept):
    """The same for memory; `kept`: bytes of one sequence on one device, by rematerialisation."""
    flights = min(candidate.microbatches, candidate.stages) / candidate.stages
    return 4 / 3 * state(problem, candidate) + kept[candidate.remat] * candidate.microbatch * flights / (candidate.of["context"] * candidate.of["tensor"])
