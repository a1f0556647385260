"""A mixture of experts as MaxText computes it: tokens sorted by expert and multiplied as ragged groups (dropless), or up to a capacity."""
import functools

import jax
import jax.numpy as jnp
from jax import lax
from jax.ad_checkpoint import checkpoint_name

F32, BF16 = jnp.float32, jnp.bfloat16
GATED = ("wi_0", "wi_1")


def gates(config, x, weights):
    scores = jnp.einsum("...w,we->...e", x, weights["gate"].astype(BF16)).astype(F32)
    top, choice = lax.top_k(scores, config.experts_per_token)
    return jax.nn.softmax(top, axis=-1).astype(BF16), choice


def exchange(axis, sizes):
    """How many rows go to each device, where they begin, where they begin there, and how many come; `sizes`: rows of each expert."""
    sent = sizes.reshape(lax.axis_size(axis), -1).sum(1)
    every = lax.all_gather(sent, axis)
    before = jnp.cumsum(every, 0) - every
    return jnp.cumsum(sent) - sent, sent, before[lax.axis_index(axis)], every[:, lax.axis_index(axis)]


def back(axis, offsets):
    """The same for the way back, on which each device returns what it got."""
    starts, sent, _, came = offsets
    places = lax.all_to_all(starts.reshape(-1, 1), axis, 0, 0).reshape(-1)
    return jnp.cumsum(came) - came, came, places, sent


def ragged(config, axis, x, gate, choice, wi_0, wi_1, wo):
    """One device's tokens, with the weights of its experts; over `axis` tokens travel to their experts and back, as many as each has.

    Shapes are those of the mean: with `hespas run --moe-imbalance` the busiest device sends and multiplies more.
    """
    batch, length, width = x.shape
    flat = choice.reshape(-1)
    order = jnp.argsort(flat)
    rows = jnp.take(x.reshape(-1, width), order // config.experts_per_token, axis=0)
    sizes = jnp.bincount(flat, length=config.experts).astype(jnp.int32)
    if axis:
        offsets = exchange(axis, sizes)
        rows = lax.ragged_all_to_all(rows, jnp.zeros_like(rows), *offsets, axis_name=axis)
        sizes = lax.all_to_all(sizes.reshape(lax.axis_size(axis), -1), axis, 0, 0).sum(0)
    parts = [checkpoint_name(lax.ragged_dot(rows, w, sizes), f"mlp{name}") for name, w in zip(GATED, (wi_0, wi_1))]
    out = checkpoint_name(lax.ragged_dot(jax.nn.silu(parts[0]) * parts[1], wo, sizes), "mlpwo")
    if axis:
        out = lax.ragged_all_to_all(out, jnp.zeros_like(out), *back(axis, offsets), axis_name=axis)
    own = jnp.take(out, jnp.argsort(order), axis=0).reshape(batch, length, config.experts_per_token, width)
    return jnp.einsum("btkw,btk->btw", own, gate)


def sparse(config, split, x, gate, choice, weights):
    axis = split.axes("expert")
    tokens, choices = split.spec("batch", "length", None), split.spec("batch", "length", None)
    up, down = split.spec("expert", None, "mlp"), split.spec("expert", "mlp", None)
    inner = split.axes("mlp")

    def local(*arrays):
        out = ragged(config, axis[0] if axis else None, *arrays)
        return lax.psum(out, inner) if inner else out

    return jax.shard_map(local, mesh=split.mesh, in_specs=(tokens, choices, choices, up, up, down), out_specs=tokens, check_vma=False)(
        x, gate, choice, *(weights[f"expert_{name}"].astype(BF16) for name in (*GATED, "wo")))


def up_to_capacity(config, split, x, gate, choice, weights):
    """Matmuls with one-hot matrices send each token to a place of its expert; what finds none is dropped."""
    length, count = x.shape[1], config.experts
    capacity = max(1, int(length * config.experts_per_token * config.capacity_factor / count))
    chosen = jax.nn.one_hot(choice, count, dtype=F32)
    place = (jnp.cumsum(chosen.reshape(x.shape[0], -1, count), axis=1) - 1).reshape(chosen.shape)
    kept = chosen * (place < capacity)
    slot = jax.nn.one_hot((place * kept).sum(-1).astype(jnp.int32), capacity, dtype=BF16)
    dispatch = jnp.einsum("btke,btkc->btec", kept.astype(BF16), slot)
    combine = jnp.einsum("btke,btkc,btk->btec", kept.astype(BF16), slot, gate)
    place_of = functools.partial(lambda array: split(array, "expert", "batch_without_expert", None, None))
    sent = place_of(jnp.einsum("btec,btw->ebcw", dispatch, x))
    parts = [checkpoint_name(jnp.einsum("ebcw,ewf->ebcf", sent, weights[f"expert_{name}"].astype(BF16)), f"mlp{name}") for name in GATED]
    hidden = jax.nn.silu(parts[0]) * parts[1]
    out = place_of(checkpoint_name(jnp.einsum("ebcf,efw->ebcw", hidden, weights["expert_wo"].astype(BF16)), "mlpwo"))
    return jnp.einsum("ebcw,btec->btw", out, combine)


@jax.named_scope("experts")
def mixture(config, split, x, weights):
    gate, choice = gates(config, x, weights)
    way = up_to_capacity if config.capacity_factor > 0 else sparse
    return split(way(config, split, x, gate, choice, weights), "batch", "length", "embed_of_activation")
