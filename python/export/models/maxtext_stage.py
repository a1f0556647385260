"""One stage of a pipeline of MaxText's model: its layers' forward and backward pass for one microbatch, and the update of its weights.

The first stage embeds tokens, the last one has the loss. What passes between stages is an argument and a result, so that a stage is a program of
its own. A frozen stage leaves the gradients of weights and the update out: the difference is what zero-bubble schedules move.
"""
import functools

import jax

from models.common import Step
from models.maxtext import embedded, given, held, loss_behind, run_layers, shardings, updated, whole_gradients
from models.maxtext_layers import BF16, F32, RESIDUAL, Layers
from models.maxtext_weights import shapes
from models.mesh_rules import Split

PARTS = ("first", "middle", "last")


def own_weights(config, part):
    """What the ends hold beside their layers; a tied embedding lies in both."""
    ends = {"first": ("embedding", "positions"), "middle": (), "last": ("norm", "norm/bias", *(("embedding",) if config.tied else ("logits",)))}
    return {name: leaf for name, leaf in shapes(config).items() if name == "layers" or name in ends[part]}


def forward(config, split, part, batch, weights, x):
    if part == "first":
        with jax.named_scope("embedding"):
            x = embedded(config, split, weights, batch["inputs"])
    x = run_layers(config, Layers(config, split), x, weights["layers"])
    return loss_behind(config, split, weights, batch, x) if part == "last" else x


def stage_step(config, split, part, frozen, weights, state, batch, x, upstream):
    of = functools.partial(forward, config, split, part, batch)
    if frozen:
        out, pull = jax.vjp(lambda x: of(weights, x), x)
        return out, pull(upstream)[0]
    if part == "first":
        out, pull = jax.vjp(lambda weights: of(weights, None), weights)
        gradients, back = *pull(upstream), ()
    else:
        out, pull = jax.vjp(of, weights, x)
        gradients, back = pull(upstream)
    new, moved, _ = updated(config, weights, whole_gradients(config, split, gradients), state)
    return new, moved, out, back


def kept_step(config, split, weights, batch, x):
    """What a middle stage holds of a microbatch between its passes: the results of this program. Left out is what lies in its weights anyway, or in
    the host's memory.
    """
    out, pull = jax.vjp(functools.partial(forward, config, split, "middle", batch), weights, x)
    own = {id(leaf) for leaf in (*jax.tree.leaves(weights), out)}
    return [leaf for leaf in jax.tree.leaves(pull) if id(leaf) not in own and jax.typeof(leaf).memory_space == jax.memory.Space.Device]


def build(mesh, config, part):
    """`part`: first, middle, last; frozen: a middle stage without gradients of weights; kept: what one holds."""
    split, frozen, what = Split(mesh, config.whole), part == "frozen", part
    part = part if part in PARTS else "middle"
    weights, state = held(config, split, own_weights(config, part))
    batch = given(config, split)
    shape = (*batch["inputs"].shape, config.width)
    x = jax.ShapeDtypeStruct(shape, BF16, sharding=split.sharding(shape, RESIDUAL))
    if what == "kept":
        return Step(functools.partial(kept_step, config, split), (weights, batch, x), results=lambda out: None)
    upstream = jax.ShapeDtypeStruct((), F32, sharding=split.sharding((), ())) if part == "last" else x
    between = split.sharding(shape, RESIDUAL)
    ends = (None if part == "last" else between, () if part == "first" else between)
    return Step(functools.partial(stage_step, config, split, part, frozen), (weights, state, batch, () if part == "first" else x, upstream),
                donate=() if frozen else (0, 1), results=lambda out: ends if frozen else (shardings(weights), shardings(state), *ends))
