"""A training step of a small network, for the tutorial: `hespas export examples/tutorial/step.py --axes data=4`.

Weights are replicated, the batch is split over the axis `data`, so the gradients are summed over all devices.
"""
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

WIDTH, ROWS, RATE = 512, 256, 1e-3


def loss(weights, x, y):
    for w in weights:
        x = jax.nn.relu(x @ w)
    return jnp.mean(jnp.square(x - y))


def step(weights, x, y):
    gradients = jax.grad(loss)(weights, x, y)
    return [w - RATE * g for w, g in zip(weights, gradients)]


def arguments(mesh):
    everywhere, split = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))
    weights = [jax.ShapeDtypeStruct((WIDTH, WIDTH), jnp.float32, sharding=everywhere) for _ in range(3)]
    batch = jax.ShapeDtypeStruct((ROWS, WIDTH), jnp.float32, sharding=split)
    return weights, batch, batch
