"""The ready pipelines compute what their layers compute one after the other: outputs and gradients, in f32 on pretended devices."""
import concurrent.futures
import os
import pathlib
import queue
import sys
import unittest

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import hespas  # noqa: E402

sys.path.insert(0, str(pathlib.Path(hespas.__file__).parent / "share/python/export"))

from models import pipeline, pipeline_stages  # noqa: E402

STAGES, COUNT, ROWS, WIDTH, INNER = 4, 8, 16, 8, 24


def values(seed, *shape):
    return 0.3 * jax.random.normal(jax.random.key(seed), shape, jnp.float32)


def layers(chunks):
    """Weights of part chunk * STAGES + stage."""
    return [(values(2 * part, WIDTH, INNER), values(2 * part + 1, INNER, WIDTH)) for part in range(chunks * STAGES)]


def through(weights, x):
    for each in weights:
        x = pipeline.stage(each, x)
    return x


class LocalWire:
    """Every channel is a queue; a program that waits for what nobody sends fails."""

    def __init__(self):
        self.channels = {}

    def _queue(self, channel):
        return self.channels.setdefault(channel, queue.Queue())

    def send(self, value, channel):
        self._queue(channel).put(value)

    def receive(self, like, channel):
        value = self._queue(channel).get(timeout=120)
        assert value.shape == like.shape
        return value


class Lockstep(unittest.TestCase):
    def check(self, schedule, chunks):
        mesh = jax.sharding.Mesh(np.array(jax.devices()[:STAGES]), ("stage",))
        step = pipeline.build(mesh, schedule=schedule, microbatches=COUNT, rows=ROWS, width=WIDTH, inner=INNER, dtype="float32")
        weights, inputs = layers(chunks), values(99, COUNT, ROWS, WIDTH)

        def loss(weights):
            return jnp.mean(jnp.square(jax.vmap(lambda x: through(weights, x))(inputs)))

        wanted, gradients = jax.value_and_grad(loss)(weights)
        # [stage, chunk, ...] of parts in chunk-major order
        stacked = [jnp.stack([jnp.stack([weights[c * STAGES + s][i] for c in range(chunks)]) for s in range(STAGES)]) for i in (0, 1)]
        value, found = jax.jit(step.function)(tuple(stacked), inputs)
        np.testing.assert_allclose(value, wanted, rtol=1e-5)
        for part, pair in enumerate(gradients):
            for of_all, one in zip(found, pair):
                np.testing.assert_allclose(of_all[part % STAGES, part // STAGES], one, rtol=1e-4, atol=1e-6)

    def test_schedules(self):
        for schedule, chunks in (("gpipe", 1), ("1f1b", 1), ("interleaved", 2)):
            with self.subTest(schedule):
                self.check(schedule, chunks)


class Stages(unittest.TestCase):
    def run_all(self, plan, weights, inputs, upstream):
        wire, like = LocalWire(), jax.ShapeDtypeStruct((ROWS, WIDTH), jnp.float32)
        nothing = jax.tree.map(jnp.zeros_like, weights)

        def run(at):
            own = slice(at, None, STAGES)
            return pipeline_stages.run_stage(plan, at, wire, like, weights[own], inputs if at == 0 else [], upstream if at == STAGES - 1 else [],
                                             nothing[own])

        with concurrent.futures.ThreadPoolExecutor(STAGES) as pool:
            return list(pool.map(run, range(STAGES)))

    def test_schedules(self):
        for schedule in pipeline_stages.SCHEDULES:
            with self.subTest(schedule):
                plan = pipeline_stages.Plan(schedule, STAGES, COUNT, training=True)
                weights = layers(plan.chunks)
                inputs, upstream = list(values(99, COUNT, ROWS, WIDTH)), list(values(98, COUNT, ROWS, WIDTH))
                made = self.run_all(plan, weights, inputs, upstream)
                gradients = jax.tree.map(jnp.zeros_like, weights)
                for i, (x, cotangent) in enumerate(zip(inputs, upstream)):
                    output, pull = jax.vjp(through, weights, x)
                    more, of_input = pull(cotangent)
                    gradients = jax.tree.map(jnp.add, gradients, more)
                    np.testing.assert_allclose(made[-1][1][False, i], output, rtol=1e-5, atol=1e-6)
                    np.testing.assert_allclose(made[0][1][True, i], of_input, rtol=1e-4, atol=1e-6)
                for part, wanted in enumerate(gradients):
                    for one, other in zip(made[part % STAGES][0][part // STAGES], wanted):
                        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)

    def test_one_forward_one_backward_keeps_few_activations(self):
        def most_kept(schedule, at):
            kept = most = 0
            for backward, _, _ in pipeline_stages.Plan(schedule, STAGES, COUNT, training=True).tasks(at):
                kept += -1 if backward else 1
                most = max(most, kept)
            self.assertEqual(kept, 0)
            return most

        self.assertEqual([most_kept("1f1b", at) for at in range(STAGES)], [4, 3, 2, 1])
        self.assertEqual([most_kept("gpipe", at) for at in range(STAGES)], [COUNT] * STAGES)


if __name__ == "__main__":
    unittest.main()
