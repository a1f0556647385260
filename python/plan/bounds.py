"""Lower bounds of a candidate's time and memory, from the model's facts alone: no estimate of ours is below them (tests hold that).

Time: the largest of computation (all FLOPs at the peak rate, and what a pipeline's ramps add), memory (the state is read and written once), and the
wire (what a device must take in of weights and gradients, over all its links at once). They may overlap, so they do not add up.
"""
import math

from schedules import Schedule, bubble

PASSES = (1 / 3, 2 / 3, 1 / 3)  # forward, backward, and of this the weights' gradients: a product forward and two backward


def batch_of(candidate):
    return candidate.microbatch * candidate.microbatches * candidate.batch_parts


def ramps(candidate):
    """Parts of a microbatch's work that a device waits while the pipeline fills and drains; zero-bubble schedules can fill nearly all of them."""
    return 0.0 if candidate.schedule in ("", "zb-h1", "dualpipe") else (candidate.stages - 1) / candidate.chunks


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


def computing(problem, candidate):
    """A guess of computation: one device's time for a sequence is divided by devices, as if shapes did not matter; the last stage has the loss."""
    layers, loss = problem.passes[candidate.remat]  # what is outside the loop over layers, but for the loss, is divided by stages, too
    sequences = batch_of(candidate) / problem.network.devices
    if candidate.stages == 1:
        return (layers + loss) * sequences
    ends = loss * candidate.stages / (2 if candidate.schedule == "dualpipe" else 1)
    schedule = Schedule(candidate.schedule, candidate.stages, candidate.microbatches, candidate.chunks)
    return (layers + ends) * sequences * (1 + bubble(schedule, *PASSES) / candidate.microbatches)


def expected(problem, candidate):
    """For the order of the search alone: a guess of the time, from how often each kind of parallelism exchanges how much.

    Parameters (ZeRO 3, Rajbhandari et al. 2020, section 7): gathered forward and backward, gradients scattered; an all-reduce of four-byte gradients
    over the data axis, of a pipeline once a step, else of each microbatch, as XLA's partitioner leaves it. Tensor (Korthikanti et al. 2022, section 4.2.2): four gathers and four scatters of a layer's activations.
    Context: keys and values gathered forward and backward, their gradients scattered (all-gather variant of Llama 3, 2024, section 3.3.2).
    Experts (GShard, Lepikhin et al. 2021, section 3.2): tokens go out and come back, forward and backward. XLA hides next to nothing of these in a
    loop over layers unless flags pipeline them, so that all add up.
    """
    of, facts, count = candidate.of, problem.facts, candidate.microbatches
    weights = 2 * facts.state({"tensor": of["tensor"], "expert": of["expert"]}, candidate.stages) / facts.state_bytes
    tokens = 2 * candidate.microbatch * facts.sequence * facts.layers / candidate.stages
    own = 2 * exchange(problem, candidate, ("data",), 2 * weights / (of["fsdp"] * of["context"]))
    each = 3 * exchange(problem, candidate, ("fsdp", "context"), weights) + (own if candidate.stages == 1 else own / count)
    each += 8 * exchange(problem, candidate, ("tensor",), tokens * facts.width / of["context"])
    each += 3 * exchange(problem, candidate, ("context",), tokens * facts.keys_values / of["tensor"])
    each += 4 * exchange(problem, candidate, ("expert",), tokens * facts.width * facts.copies)
    return computing(problem, candidate) + count * each


def expected_memory(problem, candidate, kept):
    """The same for memory: state, gradients, and what a microbatch keeps; `kept`: bytes of one sequence on one device, by rematerialisation."""
    flights = min(candidate.microbatches, candidate.stages) / candidate.stages
    own = state(problem, candidate) + problem.facts.gradients(candidate.inner, candidate.stages)
    return own + kept[candidate.remat] * candidate.microbatch * flights / (candidate.of["context"] * candidate.of["tensor"])
