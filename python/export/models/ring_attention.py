"""Ring attention over the context axis (Liu et al. 2023) with balanced causal loads, as Transformer Engine runs it (JAX: context_parallel_strategy RING).

Keys and values go round the ring, a step ahead of the block of attention that needs them. Each device has a piece of the front half of the sequence and
one of the back half. So its first block is causal, and behind it each step has half a block: all queries see the front keys of a device before, or the
back queries see all keys of one behind. Devices differ in how often either is; the program is that of the device in the middle of the ring.
The backward pass sends the sums of the gradients of keys and values along with them, and at the end home.
"""
import functools

import jax
import jax.numpy as jnp
from jax.ad_checkpoint import checkpoint_name

F32 = jnp.float32


def passed(array, axes, count):
    """To the next device of the ring."""
    return jax.lax.ppermute(array, axes, [(at, (at + 1) % count) for at in range(count)])


def seen(step, count, length):
    """(first query, number of keys) of a step."""
    return (0, length) if step == 0 else (0, length // 2) if step <= count // 2 else (length // 2, length)


def merged(out, statistics, part, its, first):
    """Attention over two sets of keys. `statistics`: logarithms of sums of exponentials; the other set is seen by the queries from `first` on."""
    part = jnp.pad(part, ((0, 0), (first, 0), (0, 0), (0, 0)))
    its = jnp.pad(its, ((0, 0), (0, 0), (first, 0)), constant_values=-jnp.inf)
    both = jnp.logaddexp(statistics, its)

    def weight(each):
        return jnp.swapaxes(jnp.exp(each - both), 1, 2)[..., None]

    return out * weight(statistics) + part.astype(F32) * weight(its), both


@functools.partial(jax.custom_vjp, nondiff_argnums=(3, 4, 5))
def ring(q, k, v, block, axes, count):
    """`block`: (forward, backward) of attention on one device: forward(q, k, v, causal) -> (out, statistics)."""
    return _forward(q, k, v, block, axes, count)[0]


def _forward(q, k, v, block, axes, count):
    pair, length = jnp.stack((k, v)), q.shape[1]
    for step in range(count):
        first, keys = seen(step, count, length)
        part, its = block[0](q[:, first:], pair[0, :, :keys], pair[1, :, :keys], step == 0)
        out, statistics = (part.astype(F32), its) if step == 0 else merged(out, statistics, part, its, first)
        pair = passed(pair, axes, count) if step < count - 1 else pair
    out, statistics = checkpoint_name(out.astype(q.dtype), "context"), checkpoint_name(statistics, "context")
    return out, (q, k, v, out, statistics)


def _backward(block, axes, count, kept, gradient):
    q, k, v, out, statistics = kept
    pair, length, own = jnp.stack((k, v)), q.shape[1], jnp.zeros_like(q)
    sums = jnp.zeros_like(pair)
    for step in range(count):
        first, keys = seen(step, count, length)
        moved = passed(jnp.stack((pair, sums)), axes, count)
        of_queries, *of_pair = block[1](q[:, first:], pair[0, :, :keys], pair[1, :, :keys], out[:, first:], statistics[:, :, first:], gradient[:, first:], step == 0)
        own = own + jnp.pad(of_queries, ((0, 0), (first, 0), (0, 0), (0, 0)))
        pair, sums = moved[0], moved[1] + jnp.pad(jnp.stack(of_pair), ((0, 0), (0, 0), (0, length - keys), (0, 0), (0, 0)))
    return own, *passed(sums, axes, count)


ring.defvjp(_forward, _backward)
