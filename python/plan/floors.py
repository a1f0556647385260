"""Lower bounds of candidates from programs: a few of their last layers and the loss, forward and backward pass of a microbatch.

A stage takes at least that for each microbatch, with as many layers as it has. There are two programs of a kind of layers. The first has no fsdp axis
and lies within a node. That axis adds exchanges and takes no computation of activations away, but it divides work on weights alone. So the program
has none: weights are in bf16, also those of the logits, as casts are such work, and layers are no loop, which would cut weights out of stacks and
write gradients into stacks. The second is laid out as the candidates are; the data axis alone, whose sums may be once a step, is left out.
Many candidates have the same layers: those of all stages, schedules and numbers of microbatches.

A program of one device stands for those of several, so that XLA's first passes are in it, too: they leave texts of which other kernels follow.
"""
import dataclasses

import bounds
import costs

CYCLES = 2  # of layers in the program
LEVELS = COARSE, FINE = 0, 1
AXES = ("fsdp", "context", "tensor", "expert")


def through_xla(candidate):
    """Whether its own programs of a microbatch are of several devices; of a stage the data axis is left out (costs.requests)."""
    return candidate.stages == 1 or any(candidate.of[axis] > 1 for axis in AXES)


def holds(problem, candidate, level):
    """Whether the program's time is a bound. The data axis divides gradients of ZeRO 2, and the fine program has whole stacks of them; the fsdp axis
    divides the quantising of weights, and the coarse program quantises whole ones."""
    if level == FINE:
        return candidate.zero < 2
    return not problem.keys["quantization"] or candidate.of["fsdp"] == 1


def kind(candidate, level):
    """What decides a layer's time in the program."""
    own = candidate.of["tensor"], candidate.of["context"], candidate.of["expert"], candidate.microbatch, candidate.remat, through_xla(candidate)
    return own if level == COARSE else (*own, candidate.of["fsdp"], tuple((axis, size) for axis, size in candidate.outer if axis in AXES))


def of_few_layers(problem, found, **own):
    """A request for as many layers as the programs here have, with other keys of its own."""
    keys = {**dict(found.keys), "base_num_decoder_layers": CYCLES * problem.facts.cycle, **own}
    return dataclasses.replace(found, keys=tuple(sorted(keys.items())))


def request(problem, candidate, level):
    """None: it does not lie within a node, or the network cannot be divided so."""
    axes = AXES if level == FINE else AXES[1:]
    sizes = tuple((axis, candidate.of[axis]) for axis in axes if candidate.of[axis] > 1)
    outer = tuple((axis, size) for axis, size in candidate.outer if axis in AXES) if level == FINE else ()
    alone = dataclasses.replace(candidate, sizes=sizes, outer=outer, zero=0, schedule="", chunks=1, flags="", ring=False)
    found = costs.request(problem, alone, "last")
    if not found.system or level == COARSE and found.devices > problem.network.node:
        return None
    own = {"scan_layers": False, "weight_dtype": "bfloat16", "logits_dot_in_fp32": False} if level == COARSE else {}
    return of_few_layers(problem, dataclasses.replace(found, through_xla=through_xla(candidate)), **own)


def time(problem, candidate, level, figures, hidden=False, guess=False):
    """While the last stage has its microbatches, all other stages fill and drain with their layers; pairs of passes may hide what they exchange.

    `hidden`: computation alone, as flags may hide all that layers exchange. `guess`: what is likely instead of a bound: all layers wait as those of
    the program do.
    """
    if candidate.schedule == "dualpipe":
        return 0.0
    exposed = figures["exposed_communication_s"]
    # layers that are no loop wait at the ends alone; more of them hide that
    left = exposed if hidden or not (problem.keys["scan_layers"] and (guess or level == FINE)) else 0.0
    times = figures["layers_forward_s"], figures["layers_s"] - figures["layers_forward_s"], figures["layers_s"]
    forward, backward, both = (max(0.0, each - left) * problem.facts.alike(candidate.stages) / (CYCLES * problem.facts.cycle) for each in times)
    rest = figures["forward_s"] + figures["backward_s"] - figures["layers_s"]
    if hidden or candidate.stages == 1 or candidate.of["fsdp"] * candidate.of["context"] > 1:
        rest = max(0.0, rest - exposed)  # gathers of the loss's weights hide behind more layers
    fills, drains = bounds.ramps(problem.facts, candidate)
    return candidate.microbatches * (both + rest) + fills * forward + drains * backward
