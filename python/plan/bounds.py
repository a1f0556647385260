"""Lower bounds of a candidate's time and memory, from the model's facts alone: no estimate of ours is below them (tests hold that).

Time: the largest of computation (all FLOPs at the peak rate, and what a pipeline's ramps add), memory (the state is read and written once), and the
wire (what a device must take in of weights and gradients, over all its links at once). They may overlap, so they do not add up.
"""
import math

from costs import Problem  # noqa: F401 - the type of `problem`


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
    taken = 0
    for leaf in problem.facts.leaves:
        if leaf.layered:
            elements = math.prod(leaf.shape) / problem.facts.parts(leaf, split) / candidate.stages
            taken += 2 * elements * (1 - 1 / shared)
    gathered = candidate.of["fsdp"] * candidate.of["context"]
    return taken * (2 if gathered == shared else 1) / problem.network.all_links


def state(problem, candidate):
    return problem.facts.state(candidate.inner, candidate.stages, candidate.zero)


def memory_traffic(problem, candidate):
    return 2 * state(problem, candidate) / problem.memory_bandwidth


def time(problem, candidate):
    return max(computation(problem, candidate), wire(problem, candidate), memory_traffic(problem, candidate))


def expected(problem, candidate):
    """For the order of the search alone: a guess of the time."""
    of, facts = candidate.of, problem.facts
    inside = problem.network.levels[0].bandwidth
    slow = {axis for axis, _ in candidate.outer}
    outside = problem.network.levels[-1].bandwidth

    def rate(axis):
        return outside if axis in slow else inside

    tokens = candidate.microbatch * candidate.microbatches * facts.sequence / of["context"]
    activations = 2 * tokens * facts.width * facts.layers / candidate.stages
    exchanged = 8 * activations * (of["tensor"] > 1) / rate("tensor") + 4 * activations * (of["expert"] > 1) / rate("expert")
    weights = state(problem, candidate) / facts.state_bytes * 2 * of["fsdp"]
    gathered = 3 * weights * candidate.microbatches / rate("fsdp") if of["fsdp"] > 1 else 0
    summed = 4 * weights / rate("data") if of["data"] > 1 else 0
    work = computation(problem, candidate) / 0.7
    return max(work, gathered) + exchanged + summed


def expected_memory(problem, candidate, kept):
    """The same for memory; `kept`: bytes of one sequence on one device, by rematerialisation."""
    flights = min(candidate.microbatches, candidate.stages) / candidate.stages
    return 4 / 3 * state(problem, candidate) + kept[candidate.remat] * candidate.microbatch * flights / (candidate.of["context"] * candidate.of["tensor"])
