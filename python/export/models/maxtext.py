"""MaxText's training step for any of its configurations (maxtext_config.py), written with plain JAX and the kernels that a run calls.

Weights and moments have the types of the configuration and are cast in the layer. Layers are a loop, one body for each cycle of kinds.
"""
import functools

import jax
import jax.numpy as jnp
from jax import lax

from models.common import Step
from models.llama import adamw, clip, cross_entropy, global_norm
from models.maxtext_layers import BF16, F32, RESIDUAL, Layers
from models.maxtext_weights import shapes
from models.mesh_rules import Split
from models.remat import applied


def run_layers(config, layers, x, groups):
    for (count, cycle), stack in zip(config.groups, groups):
        def body(x, weights, cycle=cycle):
            for kind, own in zip(cycle, weights):
                x = layers.layer(x, own, kind)
            return x

        one = applied(config, body, config.scan)
        if config.scan:
            with jax.named_scope("layers"):
                x = lax.scan(lambda carry, weights, one=one: (one(carry, weights), None), x, stack)[0]
            continue
        for at in range(count):
            with jax.named_scope(f"layers/{at}"):
                x = one(x, stack[at])
    return x


def embedded(config, split, weights, tokens):
    table = weights["embedding"].astype(BF16)
    if config.iota_embedding:
        chosen = split(jax.nn.one_hot(tokens, table.shape[0], dtype=BF16), "batch", "length", None)
        x = jnp.einsum("btv,vw->btw", chosen, table)
    else:
        x = table[tokens]
    x = split(x, *RESIDUAL)
    return x + weights["positions"].astype(BF16)[None, : tokens.shape[1]] if "positions" in weights else x


@jax.named_scope("logits")
def losses(config, split, weights, h, targets):
    matrix = weights["embedding"].T if config.tied else weights["logits"]
    wide = F32 if config.logits_f32 else BF16
    logits = split(h.astype(wide) @ matrix.astype(wide), "batch", "length", "vocab").astype(F32)
    return cross_entropy(logits, jax.nn.one_hot(targets, logits.shape[-1], dtype=F32))


def tiled_losses(config, split, weights, h, targets):
    """In parts of the sequence, whose logits are computed again in the backward pass."""
    tiles, (batch, length) = config.vocabulary_tiles, targets.shape
    parts = [jnp.moveaxis(array.reshape(batch, tiles, length // tiles, *array.shape[2:]), 1, 0) for array in (h, targets)]
    one = jax.checkpoint(functools.partial(losses, config, split, weights), prevent_cse=False)
    return jnp.moveaxis(lax.map(lambda part: one(*part), tuple(parts)), 0, 1).reshape(batch, length)


def loss(config, split, weights, batch):
    layers = Layers(config, split)
    with jax.named_scope("embedding"):
        x = embedded(config, split, weights, batch["inputs"])
    return loss_behind(config, split, weights, batch, run_layers(config, layers, x, weights["layers"]))


def loss_behind(config, split, weights, batch, x):
    """Of what leaves the last layer."""
    h = Layers(config, split).norm(x, weights, "norm")
    each = (tiled_losses if config.vocabulary_tiles > 1 else losses)(config, split, weights, h, batch["targets"])
    counted = batch["segments"] != 0
    return jnp.sum(each * counted) / (jnp.sum(counted) + 1e-8)


def microbatches(config, split, array):
    """Each takes every n-th sequence, as MaxText does (utils/gradient_accumulation.py), so that no device needs those of another."""
    parts = array.reshape(-1, config.accumulate, array.shape[1]).swapaxes(0, 1)
    return lax.with_sharding_constraint(parts, split.sharding(parts.shape, (None, "batch", "length")))


def gradients_of(config, split, weights, batch):
    value_and_gradients = jax.value_and_grad(functools.partial(loss, config, split))
    if config.accumulate == 1:
        return value_and_gradients(weights, batch)
    parts = jax.tree.map(functools.partial(microbatches, config, split), batch)
    zeros = jax.tree.map(functools.partial(jnp.zeros_like, dtype=F32 if config.main_weights else None), weights)

    def one(part):
        value, gradients = value_and_gradients(weights, part)
        return value, whole_gradients(config, split, gradients) if config.shard_gradients else gradients

    return lax.scan(lambda sums, part: (jax.tree.map(jnp.add, sums, one(part)), None),
                    (jnp.zeros((), F32), whole_gradients(config, split, zeros) if config.shard_gradients else zeros), parts)[0]


def of_scales(path):
    return any("scales" in str(key) for key in path)


def updated(config, weights, gradients, state):
    """AdamW behind clipping; scales of fp8 take this step's magnitudes instead."""
    clipped = clip(gradients) if config.clip > 0 else gradients
    if config.main_weights:
        moments = {name: each for name, each in state.items() if name != "main"}
        new, moved = adamw(state["main"], jax.tree.map(lambda g: g.astype(F32), clipped), moments)
        return jax.tree.map(lambda a, w: a.astype(w.dtype), new, weights), {**moved, "main": new}, clipped
    new, moved = (jax.tree.map(lambda a, w: w - 1e-3 * a, gradients, weights), state) if config.optimizer == "sgd" else adamw(weights, clipped, state)
    new = jax.tree_util.tree_map_with_path(lambda path, w, g: g if of_scales(path) else w, new, gradients)
    keep_types = functools.partial(jax.tree.map, lambda a, before: a.astype(before.dtype))
    return keep_types(new, weights), keep_types(moved, state), clipped


def whole_gradients(config, split, gradients):
    """With ZeRO 1 the sums over the data axis are finished before the optimiser takes its part, as else its sharding would reach into the loop.

    With ZeRO 2 each device has its part of the sums, too.
    """
    if not config.shard_optimizer:
        return gradients
    place = split.over_data if config.shard_gradients else split.sharding
    described = {name: leaf for name, leaf in shapes(config).items() if name in gradients}
    return jax.tree.map(lambda leaf, g: lax.with_sharding_constraint(g, place(*leaf)), described, gradients, is_leaf=is_leaf)


def train_step(config, split, weights, state, batch):
    value, gradients = gradients_of(config, split, weights, batch)
    gradients = whole_gradients(config, split, gradients)
    new, moved, clipped = updated(config, weights, gradients, state)
    return new, moved, {"loss": value, "gradient_norm": global_norm(clipped), "raw_gradient_norm": global_norm(gradients),
                        "weight_norm": global_norm(new)}


def is_leaf(node):
    return isinstance(node, tuple) and isinstance(node[0], tuple) and len(node) == 2 and isinstance(node[0][0], int)


def held(config, split, described):
    """Weights and the optimiser's state; with `shard_optimizer_over_data` the latter is divided over the data axis, too (ZeRO 1)."""

    def arrays(dtype, place):
        return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf[0], dtype, sharding=place(*leaf)), described, is_leaf=is_leaf)

    place = split.over_data if config.shard_optimizer else split.sharding
    kinds = {"mu": F32, "nu": F32, "main": F32} if config.main_weights else {"mu": config.mu_dtype, "nu": config.weight_dtype}
    state = {"count": jax.ShapeDtypeStruct((), jnp.int32, sharding=split.sharding((), ())),
             **{name: arrays(jnp.dtype(kind), place) for name, kind in kinds.items()}}
    return arrays(jnp.dtype(config.weight_dtype), split.sharding), state


def shardings(tree):
    return jax.tree.map(lambda array: array.sharding, tree)


def given(config, split):
    shape = (round(config.batch * split.mesh.size) * config.accumulate, config.sequence)
    tokens = jax.ShapeDtypeStruct(shape, jnp.int32, sharding=split.sharding(shape, ("batch", "length")))
    return {name: tokens for name in ("inputs", "targets", "segments")}


def build(mesh, config):
    split = Split(mesh, config.whole)
    weights, state = held(config, split, shapes(config))
    return Step(functools.partial(train_step, config, split), (weights, state, given(config, split)), donate=(0, 1),
                results=lambda out: (shardings(weights), shardings(state), None))
