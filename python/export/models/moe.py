"""A mixture-of-experts layer of Mixtral 8x7B's dimensions, experts distributed over devices, forward and backward.

`capacity`: each expert takes up to its capacity of tokens, exchanged by all-to-all. `ragged`: tokens are sorted by expert and multiplied as
ragged groups, the experts' inner dimension split over devices (forward only).
"""
import functools

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec as P

from models.common import Step, abstract

F32, BF16 = jnp.float32, jnp.bfloat16


def routed(x, router, top):
    gate, choice = lax.top_k(jax.nn.softmax((x @ router).astype(F32)), top)
    return gate, choice


def experts(x, w1, w3, w2):
    hidden = jax.nn.silu(jnp.einsum("etd,edf->etf", x, w1)) * jnp.einsum("etd,edf->etf", x, w3)
    return jnp.einsum("etf,efd->etd", hidden, w2)


def capacity_layer(name, top, capacity, x, router, w1, w3, w2):
    count = router.shape[1]
    gate, choice = routed(x, router, top)
    gate = gate / gate.sum(-1, keepdims=True)
    chosen = jax.nn.one_hot(choice, count, dtype=F32)
    position = (jnp.cumsum(chosen.reshape(-1, count), 0) - 1).reshape(chosen.shape)
    kept = chosen * (position < capacity)
    slot = jax.nn.one_hot((position * kept).sum(-1).astype(jnp.int32), capacity, dtype=F32)
    dispatch = jnp.einsum("tke,tkc->tec", kept, slot)
    combine = jnp.einsum("tke,tkc,tk->tec", kept, slot, gate)
    sent = jnp.einsum("tec,td->ecd", dispatch.astype(BF16), x)
    received = lax.all_to_all(sent, name, 0, 1, tiled=True)
    returned = lax.all_to_all(experts(received, w1, w3, w2), name, 1, 0, tiled=True)
    return jnp.einsum("tec,ecd->td", combine.astype(BF16), returned)


def ragged_layer(name, top, x, router, w1, w3, w2):
    count = router.shape[1]
    gate, choice = routed(x, router, top)
    flat = choice.reshape(-1)
    order = jnp.argsort(flat)
    sizes = jnp.bincount(flat, length=count).astype(jnp.int32)
    rows = jnp.take(x, order // top, axis=0)
    hidden = jax.nn.silu(lax.ragged_dot(rows, w1, sizes)) * lax.ragged_dot(rows, w3, sizes)
    out = lax.psum(lax.ragged_dot(hidden, w2, sizes), name)
    out = jnp.zeros_like(out).at[order].set(out).reshape(-1, top, x.shape[1])
    return jnp.einsum("tkd,tk->td", out, gate.astype(BF16))


def build(mesh, *, kind="capacity", width=4096, inner=14336, count=8, top=2, tokens=8192):
    name, devices = mesh.axis_names[0], mesh.shape[mesh.axis_names[0]]
    if kind == "ragged":
        specs = (P(), P(), P(None, None, name), P(None, None, name), P(None, name))
        body = jax.shard_map(functools.partial(ragged_layer, name, top), mesh=mesh, in_specs=specs, out_specs=P())
        arguments = (abstract(mesh, (tokens // 4, width), BF16), abstract(mesh, (width, count), BF16),
                     abstract(mesh, (count, width, inner), BF16, None, None, name),
                     abstract(mesh, (count, width, inner), BF16, None, None, name), abstract(mesh, (count, inner, width), BF16, None, name))
        return Step(body, arguments)
    if count % devices:
        raise ValueError(f"{count} experts cannot be distributed over {devices} devices")
    capacity = 2 * (tokens // devices) * top // count
    specs = (P(name), P(), P(name), P(name), P(name))
    body = jax.shard_map(functools.partial(capacity_layer, name, top, capacity), mesh=mesh, in_specs=specs, out_specs=P(name))

    def step(x, y, weights):
        return jax.value_and_grad(lambda ws: jnp.mean(jnp.square((body(x, *ws) - y).astype(F32))))(weights)

    weights = (abstract(mesh, (width, count), BF16), abstract(mesh, (count, width, inner), BF16, name),
               abstract(mesh, (count, width, inner), BF16, name), abstract(mesh, (count, inner, width), BF16, name))
    rows = abstract(mesh, (tokens, width), BF16, name)
    return Step(step, (rows, rows, weights))
