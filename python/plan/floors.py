"""Lower bounds of candidates from programs: their last layers and the loss, with no axis over which weights or gradients are divided or summed.

Such an axis adds exchanges and takes no computation away, so that the last stage takes at least the forward and backward passes of that program for
each microbatch, with as many layers as it has. Weights are in bf16 there, as casts are divided, too. Many candidates have the same layers.
"""
import dataclasses

import bounds
import costs

CYCLES = 2  # of layers in the program


def kind(candidate):
    """What decides a layer's time beside the axes that are left out."""
    return candidate.of["tensor"], candidate.of["context"], candidate.of["expert"], candidate.microbatch, candidate.remat


def request(problem, candidate):
    """None: the network cannot be divided so."""
    sizes = tuple((axis, candidate.of[axis]) for axis in ("context", "tensor", "expert") if candidate.of[axis] > 1)
    alone = dataclasses.replace(candidate, sizes=sizes, outer=(), zero=0, schedule="", chunks=1, flags="")
    found = costs.request(problem, alone, "last")
    own = {"base_num_decoder_layers": CYCLES * problem.facts.cycle, "weight_dtype": "bfloat16"}
    system = found.system if found.devices > 1 else "auto"
    return dataclasses.replace(found, system=system, keys=tuple(sorted({**dict(found.keys), **own}.items()))) if system else None


def time(problem, candidate, figures):
    """While the last stage has its microbatches, all other stages fill and drain with their layers; pairs of passes may hide what they exchange."""
    if candidate.schedule == "dualpipe":
        return 0.0
    layers = figures["layers_s"] * problem.facts.layers / (CYCLES * problem.facts.cycle * candidate.stages)
    rest = figures["forward_s"] + figures["backward_s"] - figures["layers_s"]
    return candidate.microbatches * (layers + rest) + bounds.ramps(candidate) * layers
