"""Lower bounds of a candidate's time and memory, from the model's facts alone: no estimate of ours is below them (tests hold that).

Time: the largest of computation (all FLOPs at the rate that long matmuls sustain, and what a pipeline's ramps add), memory (the state is read and written once), and the
wire (what a device must take in over all its links, and a node over its own). They may overlap, so they do not add up.
Memory: the state, and what the backward pass of each microbatch in flight needs, divided by all axes that could divide it.
"""
import math

from schedules import Schedule, bubble, in_flight

PASSES = (1 / 3, 2 / 3, 1 / 3)  # forward, backward, and of this the weights' gradients: a matmul forward and two backward
FORWARD = 1 / 4  # least part of the forward pass in a microbatch's work: the backward pass computes all of it again
HALF = 2  # bytes of bf16, in which weights, gradients and activations travel at least


def batch_of(candidate):
    return candidate.microbatch * candidate.microbatches * candidate.batch_parts


def ramps(facts, candidate):
    """Forward and backward passes that a device waits for while the pipeline fills and drains.

    Before its first task the last device waits for a forward pass of all others, whatever the schedule is. What others then wait for backward
    passes, zero-bubble schedules can fill; DualPipe starts at both ends. A first stage of other layers than the rest does not count.
    """
    if candidate.schedule in ("", "dualpipe"):
        return 0.0, 0.0
    each = (candidate.stages - (2 if facts.dense else 1)) / candidate.chunks
    return each, 0.0 if candidate.schedule == "zb-h1" else each


def computation(problem, candidate):
    work = problem.flops[candidate.remat] * batch_of(candidate) / (problem.network.devices * min(problem.peak, problem.rate))
    forward, backward = ramps(problem.facts, candidate) if not problem.facts.dense else (0.0, 0.0)
    return work * (1 + (backward + FORWARD * (forward - backward)) / candidate.microbatches)


class Wire:
    """Bytes that a device takes in over all its links, and those of them that come from other nodes."""

    def __init__(self, candidate):
        self.of, self.outer, self.all, self.outside = candidate.of, dict(candidate.outer), 0.0, 0.0

    def add(self, axes, volume):
        """Each device of a group over `axes` needs `volume`, of which it has its share. Together those in a node bring each byte in once."""
        group, nodes = math.prod(self.of[axis] for axis in axes), math.prod(self.outer.get(axis, 1) for axis in axes)
        self.all += volume * (1 - 1 / group)
        self.outside += volume * (1 - 1 / nodes) * nodes / group


def wire(problem, candidate):
    """Each microbatch gathers weights over the axes that divide them and scatters their gradients; tensor devices sum and gather the activations of
    attention and MLP forward and backward, at once where a switch sums; keys and values are gathered, and their gradients scattered. Once a
    step gradients are summed over the data axis.
    """
    of, facts, found = candidate.of, problem.facts, Wire(candidate)
    layers = facts.alike(candidate.stages)
    weights = HALF * facts.state({"tensor": of["tensor"], "expert": of["expert"]}, max(2, candidate.stages)) / facts.state_bytes
    weights *= 2 if candidate.stages == 1 else 1  # of the layers alone, as those of a stage are
    tokens = HALF * candidate.microbatch * facts.sequence * layers
    count = candidate.microbatches
    found.add(("fsdp", "context"), 2 * count * weights)
    found.add(("data",), weights / (of["fsdp"] * of["context"]))
    found.add(("tensor",), 4 * count * tokens * facts.width / of["context"])
    found.add(("context",), 2 * count * tokens * facts.keys_values / of["tensor"])
    return max(found.all / problem.network.all_links, found.outside / problem.network.outside)


def state(problem, candidate):
    return problem.facts.state(candidate.inner, candidate.stages, candidate.zero)


def memory(problem, candidate):
    """What is kept of a sequence and layer between its passes is what a program for one device says."""
    facts, stages = problem.facts, candidate.stages
    least = facts.alike(stages) if stages > 1 else facts.layers
    layers = max(0, least - facts.dense)
    kept = problem.kept[candidate.remat] * candidate.microbatch * layers / (candidate.of["context"] * candidate.of["tensor"])
    if stages == 1:
        return state(problem, candidate) + kept
    schedule = Schedule(candidate.schedule, stages, candidate.microbatches, candidate.chunks)
    return state(problem, candidate) * least * stages / facts.layers + kept * max(1.0, in_flight(schedule) - (2 if candidate.schedule == "dualpipe" else 0))


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


def weights_exchanged(problem, candidate):
    """A guess for the order of the search alone: seconds of a step's exchanges of weights and gradients.

    ZeRO 3 (Rajbhandari et al. 2020, section 7): gathered forward and backward, gradients scattered; an all-reduce of four-byte gradients
    over the data axis, of a pipeline once a step, else of each microbatch, as XLA's partitioner leaves it. XLA hides next to nothing of these in a
    loop over layers unless flags pipeline them, so that all add up.
    """
    of, facts, count = candidate.of, problem.facts, candidate.microbatches
    weights = HALF * facts.state({"tensor": of["tensor"], "expert": of["expert"]}, candidate.stages) / facts.state_bytes
    own = 2 * exchange(problem, candidate, ("data",), 2 * weights / (of["fsdp"] * of["context"]))
    return count * 3 * exchange(problem, candidate, ("fsdp", "context"), weights), own * (count if candidate.stages == 1 else 1)


def beside(problem, candidate, divided):
    """The same of what a program of floors.py lacks; `divided`: it has the axes over which weights are divided."""
    gathers, sums = weights_exchanged(problem, candidate)
    update = memory_traffic(problem, candidate)
    return sums + update + (0.0 if divided or candidate.of["fsdp"] == 1 else gathers)


def expected(problem, candidate):
    """A guess of the whole time, from how often each kind of parallelism exchanges how much.

    Tensor (Korthikanti et al. 2022, section 4.2.2): four gathers and four scatters of a layer's activations.
    Context: keys and values gathered forward and backward, their gradients scattered (all-gather variant of Llama 3, 2024, section 3.3.2).
    Experts (GShard, Lepikhin et al. 2021, section 3.2): tokens go out and come back, forward and backward.
    """
    of, facts = candidate.of, problem.facts
    tokens = HALF * candidate.microbatch * facts.sequence * facts.layers / candidate.stages
    each = 8 * exchange(problem, candidate, ("tensor",), tokens * facts.width / of["context"])
    each += 3 * exchange(problem, candidate, ("context",), tokens * facts.keys_values / of["tensor"])
    each += 4 * exchange(problem, candidate, ("expert",), tokens * facts.width * facts.copies)
    return computing(problem, candidate) + candidate.microbatches * each + sum(weights_exchanged(problem, candidate))


def expected_memory(problem, candidate):
    """The same for memory: what is bound to be there, and gradients."""
    return memory(problem, candidate) + problem.facts.gradients(candidate.inner, candidate.stages)
