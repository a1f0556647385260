"""A mixture of experts as MaxText computes it: tokens sorted by expert and multiplied as ragged groups (dropless), or up to a capacity."""
import functools

import jax
import jax.numpy as jnp
from jax import lax
from jax.ad_checkpoint import checkpoint_name
from jax.experimental.xla_metadata import set_xla_metadata

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


@jax.custom_vjp
def moved(rows, order):
    """Rows in another order; their gradients go back by a gather, too, not by a scatter (MaxText's use_custom_sort_vjp)."""
    return jnp.take(rows, order, axis=0)


moved.defvjp(lambda rows, order: (moved(rows, order), order), lambda order, gradient: (jnp.take(gradient, jnp.argsort(order), axis=0), None))

# Contracted dimensions of rows [m, k] with weights [g, k, n], of the rows' gradient, and of the weights', which sums over each group's rows
FORWARD, FOR_ROWS = (lax.RaggedDotDimensionNumbers((dims, ([], [])), [0], [0]) for dims in (([1], [1]), ([1], [2])))
FOR_WEIGHTS = lax.RaggedDotDimensionNumbers((([0], [0]), ([], [])), [0], [])


def in_blocks(blocks, rows, weights, sizes, numbers):
    """The blocks of rows, contraction and columns stand beside the operation, as XLA reads them."""
    if not blocks:
        return lax.ragged_dot_general(rows, weights, sizes, numbers)
    with set_xla_metadata(ragged_dot_tiling=",".join(map(str, blocks))):
        return lax.ragged_dot_general(rows, weights, sizes, numbers)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def grouped_matmul(tiles, rows, weights, sizes):
    return in_blocks(tiles[0], rows, weights, sizes, FORWARD)


def _grouped_backward(tiles, kept, gradient):
    rows, weights, sizes = kept
    return (in_blocks(tiles[1], gradient, weights, sizes, FOR_ROWS), in_blocks(tiles[2], rows, gradient, sizes, FOR_WEIGHTS), None)


grouped_matmul.defvjp(lambda tiles, *arrays: (grouped_matmul(tiles, *arrays), arrays), _grouped_backward)


def ragged(config, axis, x, gate, choice, wi_0, wi_1, wo):
    """One device's tokens, with the weights of its experts; over `axis` tokens travel to their experts and back, as many as each has.

    Shapes are those of the mean: with `hespas run --moe-imbalance` the busiest device sends and multiplies more.
    """
    batch, length, width = x.shape
    flat = choice.reshape(-1)
    order = jnp.argsort(flat)
    rows = moved(jnp.repeat(x.reshape(-1, width), config.experts_per_token, axis=0), order)
    sizes = jnp.bincount(flat, length=config.experts).astype(jnp.int32)
    if axis:
        offsets = exchange(axis, sizes)
        rows = lax.ragged_all_to_all(rows, jnp.zeros_like(rows), *offsets, axis_name=axis)
        sizes = lax.all_to_all(sizes.reshape(lax.axis_size(axis), -1), axis, 0, 0).sum(0)
    parts = [checkpoint_name(grouped_matmul(config.expert_tiles[0], rows, w, sizes), f"mlp{name}") for name, w in zip(GATED, (wi_0, wi_1))]
    out = checkpoint_name(grouped_matmul(config.expert_tiles[1], jax.nn.silu(parts[0]) * parts[1], wo, sizes), "mlpwo")
    if axis:
        out = lax.ragged_all_to_all(out, jnp.zeros_like(out), *back(axis, offsets), axis_name=axis)
    own = moved(out, jnp.argsort(order)).reshape(batch, length, config.experts_per_token, width)
    return jnp.einsum("btkw,btk->btw", own.astype(F32), gate.astype(F32)).astype(BF16)  # float32_weight_sum


def sparse(config, split, x, gate, choice, weights):
    axis = split.axes("expert")
    tokens, choices = split.spec("batch", "length", None), split.spec("batch", "length", None)
    up, down = split.spec("expert", None, "mlp_without_fsdp"), split.spec("expert", "mlp_without_fsdp", None)
    inner = split.axes("mlp_without_fsdp")

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
