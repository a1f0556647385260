"""Pipelines over one mesh axis: GPipe, 1F1B and interleaved (each device holds two chunks of layers).

All devices run one program in lockstep: a tick is one stage's work and a permute to the neighbour; where a device has nothing to do in
the ramps it computes on what is there, and the result is not used. A stage is a two-layer MLP with a residual.
"""
import functools

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec as P

from models.common import Step, abstract

F32 = jnp.float32
CHUNKS = 2  # of the interleaved schedule


def stage(weights, x):
    return x + jax.nn.gelu(x @ weights[0]) @ weights[1]


def pick(rows, at):
    return lax.dynamic_index_in_dim(rows, jnp.clip(at, 0, rows.shape[0] - 1), 0, keepdims=False)


def put(rows, row, at, wanted):
    at = jnp.clip(at, 0, rows.shape[0] - 1)
    return lax.dynamic_update_index_in_dim(rows, jnp.where(wanted, row, pick(rows, at)), at, 0)


def pass_on(x, name, stages, backward=False):
    ring = [((i + 1) % stages, i) if backward else (i, (i + 1) % stages) for i in range(stages)]
    return lax.ppermute(x, name, ring)


def gpipe_forward(name, stages, chunks, weights, inputs):
    """All microbatches through all stages; with chunks > 1 each goes around the ring that often."""
    count = inputs.shape[0]
    me = lax.axis_index(name)
    state, outputs = jnp.zeros(inputs.shape[1:], inputs.dtype), jnp.zeros_like(inputs)
    for tick in range(count * chunks + stages - 1):
        item = tick - me
        round_, within = item // stages, item % stages
        chunk, micro = round_ % chunks, round_ // chunks * stages + within
        state = jnp.where((me == 0) & (chunk == 0), pick(inputs, micro), state)
        state = stage(jax.tree.map(lambda w: pick(w, chunk), weights), state)
        outputs = put(outputs, state, micro, (me == stages - 1) & (chunk == chunks - 1) & (item >= 0))
        state = pass_on(state, name, stages)
    return outputs


def gpipe(name, stages, chunks, weights, inputs):
    """Loss and gradients; the backward pass is the forward one's mirror, after it."""

    def loss(weights):
        outputs = gpipe_forward(name, stages, chunks, weights, inputs)
        last = lax.axis_index(name) == stages - 1
        return jnp.where(last, jnp.mean(jnp.square(outputs.astype(F32))), 0.0)

    local = jax.tree.map(lambda w: w[0], weights)
    value, gradients = jax.value_and_grad(loss)(local)
    return lax.psum(value, name), jax.tree.map(lambda g: g[None], gradients)


def one_forward_one_backward(name, stages, weights, inputs):
    """Once the pipeline is full each tick has one forward and one backward step; at most 2 x stages activations are kept."""
    weights = jax.tree.map(lambda w: w[0, 0], weights)
    count, me = inputs.shape[0], lax.axis_index(name)
    kept = jnp.zeros((2 * stages, *inputs.shape[1:]), inputs.dtype)
    ahead = back = jnp.zeros(inputs.shape[1:], inputs.dtype)
    gradients = jax.tree.map(jnp.zeros_like, weights)
    total = jnp.zeros((), F32)
    for tick in range(count + 2 * (stages - 1)):
        if tick < count + stages - 1:
            micro = tick - me
            given = jnp.where(me == 0, pick(inputs, micro), ahead)
            kept = lax.dynamic_update_index_in_dim(kept, given, jnp.mod(micro, 2 * stages), 0)
            done = stage(weights, given)
            ahead = pass_on(done, name, stages)
        if tick >= stages - 1:
            micro = tick - (2 * (stages - 1) - me)
            wanted = (micro >= 0) & (micro < count)
            result, pull = jax.vjp(stage, weights, pick(kept, jnp.mod(micro, 2 * stages)))
            last = me == stages - 1
            total += jnp.where(last & wanted, jnp.mean(jnp.square(result.astype(F32))), 0.0)
            of_loss = (2.0 / (count * result.size) * result.astype(F32)).astype(result.dtype)
            more, upstream = pull(jnp.where(last, of_loss, back))
            gradients = jax.tree.map(lambda g, m: g + jnp.where(wanted, m, jnp.zeros_like(m)), gradients, more)
            back = pass_on(upstream, name, stages, backward=True)
    return lax.psum(total / count, name), jax.tree.map(lambda g: g[None, None], gradients)


def build(mesh, *, schedule="gpipe", microbatches=8, rows=2048, width=4096, inner=None, dtype="bfloat16"):
    name, stages = mesh.axis_names[0], mesh.shape[mesh.axis_names[0]]
    inner = inner or 4 * width
    chunks = CHUNKS if schedule == "interleaved" else 1
    if schedule == "interleaved" and microbatches % stages:
        raise ValueError(f"the interleaved schedule needs a multiple of {stages} microbatches")
    if schedule == "1f1b":
        body = functools.partial(one_forward_one_backward, name, stages)
    else:
        body = functools.partial(gpipe, name, stages, chunks)
    mapped = jax.shard_map(body, mesh=mesh, in_specs=((P(name), P(name)), P()), out_specs=(P(), (P(name), P(name))), check_vma=False)
    kind = jnp.dtype(dtype)
    weights = (abstract(mesh, (stages, chunks, width, inner), kind, name), abstract(mesh, (stages, chunks, inner, width), kind, name))
    return Step(mapped, (weights, abstract(mesh, (microbatches, rows, width), kind)))
