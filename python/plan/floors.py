"""Lower bounds of candidates from programs: a few of their last layers and the loss, forward and backward pass of a microbatch.

A stage takes at least that for each microbatch, with as many layers as it has. There are two programs of a kind of layers. The first has no axis
over which weights are divided, lies within a node, and has weights in bf16: such an axis adds exchanges and takes no computation away, but
casts are divided, too. The second is laid out as the candidates are; the data axis alone, whose sums may be once a step, is left out.
Many candidates have the same layers: those of all stages, schedules and numbers of microbatches.
"""
import dataclasses

import bounds
import costs

CYCLES = 2  # of layers in the program
LEVELS = COARSE, FINE = 0, 1
AXES = ("fsdp", "context", "tensor", "expert")


def kind(candidate, level):
    """What decides a layer's time in the program."""
    own = candidate.of["tensor"], candidate.of["context"], candidate.of["expert"], candidate.microbatch, candidate.remat
    return own if level == COARSE else (*own, candidate.of["fsdp"], tuple((axis, size) for axis, size in candidate.outer if axis in AXES))


def request(problem, candidate, level, part="last"):
    """None: it does not lie within a node, or the network cannot be divided so."""
    axes = AXES if level == FINE else AXES[1:]
    sizes = tuple((axis, candidate.of[axis]) for axis in axes if candidate.of[axis] > 1)
    outer = tuple((axis, size) for axis, size in candidate.outer if axis in AXES) if level == FINE else ()
    alone = dataclasses.replace(candidate, sizes=sizes, outer=outer, zero=0, schedule="", chunks=1, flags="", ring=False)
    found = costs.request(problem, alone, part)
    own = {"base_num_decoder_layers": CYCLES * problem.facts.cycle} | ({"weight_dtype": "bfloat16"} if level == COARSE else {})
    system = None if level == COARSE and found.devices > problem.network.node else found.system
    return dataclasses.replace(found, system=system, keys=tuple(sorted({**dict(found.keys), **own}.items()))) if system else None


def time(problem, candidate, figures, hidden=False):
    """While the last stage has its microbatches, all other stages fill and drain with their layers; pairs of passes may hide what they exchange.

    `hidden`: computation alone, as flags may hide all that layers exchange.
    """
    if candidate.schedule == "dualpipe":
        return 0.0
    exposed = figures["exposed_communication_s"]
    # layers that are no loop wait at the ends alone; more of them hide that
    left = exposed if hidden or not problem.keys["scan_layers"] else 0.0
    times = figures["layers_forward_s"], figures["layers_s"] - figures["layers_forward_s"], figures["layers_s"]
    forward, backward, both = (max(0.0, each - left) * problem.facts.alike(candidate.stages) / (CYCLES * problem.facts.cycle) for each in times)
    rest = figures["forward_s"] + figures["backward_s"] - figures["layers_s"]
    if hidden or candidate.stages == 1 or candidate.of["fsdp"] * candidate.of["context"] > 1:
        rest = max(0.0, rest - exposed)  # gathers of the loss's weights hide behind more layers
    waits, drains = bounds.ramps(problem.facts, candidate)
    return candidate.microbatches * (both + rest) + waits * forward + drains * backward
