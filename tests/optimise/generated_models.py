"""Models put together from a grammar of layers, for comparison with XLA's own compiler: a seed gives a program.

    program = block+ head | scan head;  block = norm mixer residual | norm mlp residual | convolutions
    each runs forward, or with a loss, its gradient and an optimiser's update
"""
import random

import jax
import jax.numpy as jnp
import numpy as np

ACTIVATIONS = {"relu": jax.nn.relu, "gelu": jax.nn.gelu, "silu": jax.nn.silu, "tanh": jnp.tanh}


class Model:
    """Draws what it is made of while it is traced; parameters are declared as they are met."""

    def __init__(self, seed):
        self.seed = seed
        self.random = random.Random(seed)
        self.dtype = self.random.choice((jnp.float32, jnp.float32, jnp.bfloat16))
        self.batch = self.random.choice((2, 4, 8))
        self.kind = self.random.choice(("tokens", "tokens", "images", "scan"))
        self.training = self.random.random() < 0.5
        self.optimiser = self.random.choice(("sgd", "momentum", "adam"))
        self.loss = self.random.choice(("squares", "cross entropy"))
        self.depth = self.random.randint(1, 3)
        self.shapes = []

    # Parameters: the first trace declares shapes, later ones take values in the same order.
    def parameter(self, *shape):
        if self.values is None:
            self.shapes.append(shape)
            return jnp.zeros(shape, self.dtype)
        self.used += 1
        return self.values[self.used - 1]

    def run(self, values, x):
        self.values, self.used = values, 0
        self.random.seed(self.seed + 1)
        return getattr(self, self.kind)(x)

    def norm(self, x):
        kind = self.random.choice(("layer", "rms"))
        y = x.astype(jnp.float32)
        if kind == "layer":
            y = y - y.mean(-1, keepdims=True)
        y = y * jax.lax.rsqrt((y * y).mean(-1, keepdims=True) + 1e-5)
        y = y.astype(x.dtype) * self.parameter(x.shape[-1])
        return y + self.parameter(x.shape[-1]) if kind == "layer" else y

    def rope(self, x):
        half = x.shape[-1] // 2
        angle = jnp.arange(x.shape[1])[:, None] / 10000 ** (jnp.arange(half) / half)
        sine, cosine = jnp.sin(angle)[:, None].astype(x.dtype), jnp.cos(angle)[:, None].astype(x.dtype)
        a, b = x[..., :half], x[..., half:]
        return jnp.concatenate([a * cosine - b * sine, b * cosine + a * sine], -1)

    def attention(self, x):
        batch, length, width = x.shape
        size = self.random.choice((32, 64))
        heads = width // size
        shared = self.random.choice([n for n in (1, 2, heads) if heads % n == 0])
        q = jnp.einsum("bsd,dhk->bshk", x, self.parameter(width, heads, size))
        k = jnp.einsum("bsd,dhk->bshk", x, self.parameter(width, shared, size))
        v = jnp.einsum("bsd,dhk->bshk", x, self.parameter(width, shared, size))
        if self.random.random() < 0.5:
            q, k = self.rope(q), self.rope(k)
        k, v = (jnp.repeat(t, heads // shared, axis=2) for t in (k, v))
        scores = jnp.einsum("bqhk,bshk->bhqs", q, k) / size ** 0.5
        if self.random.random() < 0.3:
            scores = 30 * jnp.tanh(scores / 30)
        mask = self.random.choice(("none", "causal", "window"))
        place = jnp.arange(length)
        if mask != "none":
            seen = place[:, None] >= place
            if mask == "window":
                seen &= place[:, None] - place < length // 4
            scores = jnp.where(seen, scores, jnp.finfo(scores.dtype).min)
        weights = jax.nn.softmax(scores.astype(jnp.float32), -1).astype(x.dtype)
        out = jnp.einsum("bhqs,bshk->bqhk", weights, v)
        return jnp.einsum("bqhk,hkd->bqd", out, self.parameter(heads, size, width))

    def mlp(self, x):
        activation = ACTIVATIONS[self.random.choice(sorted(ACTIVATIONS))]
        inner = x.shape[-1] * self.random.choice((2, 4))
        gated, biased = self.random.random() < 0.5, self.random.random() < 0.5
        y = x @ self.parameter(x.shape[-1], inner)
        if biased:
            y = y + self.parameter(inner)
        y = activation(y)
        if gated:
            y = y * (x @ self.parameter(x.shape[-1], inner))
        y = y @ self.parameter(inner, x.shape[-1])
        return y + self.parameter(x.shape[-1]) if biased else y

    def tokens(self, ids):
        width = self.random.choice((128, 256, 512))
        table = self.parameter(self.random.choice((1000, 8192)), width)
        x = table[ids]
        if self.random.random() < 0.5:
            x = x + self.parameter(ids.shape[1], width)
        for _ in range(self.depth):
            x = x + self.attention(self.norm(x))
            x = x + self.mlp(self.norm(x))
        x = self.norm(x)
        return x @ table.T if self.random.random() < 0.5 else x @ self.parameter(width, 1000)

    def convolution(self, x, features, stride=1, groups=1):
        size = self.random.choice((1, 3, 3, 5))
        kernel = self.parameter(size, size, x.shape[-1] // groups, features)
        y = jax.lax.conv_general_dilated(x, kernel, (stride, stride), "SAME", feature_group_count=groups,
                                         dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return y + self.parameter(features) if self.random.random() < 0.5 else y

    def images(self, x):
        x = jax.nn.relu(self.convolution(x, 32, 2))
        for _ in range(self.depth):
            features = x.shape[-1] * self.random.choice((1, 2))
            y = self.convolution(x, features, groups=x.shape[-1] if self.random.random() < 0.25 else 1)
            mean, square = y.mean((0, 1, 2)), (y * y).mean((0, 1, 2))
            y = (y - mean) * jax.lax.rsqrt(square - mean * mean + 1e-5) * self.parameter(features) + self.parameter(features)
            y = jax.nn.relu(y)
            x = x + y if y.shape == x.shape else y
            if self.random.random() < 0.4:
                x = jax.lax.reduce_window(x, np.asarray(-np.inf, x.dtype), jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return x.mean((1, 2)) @ self.parameter(x.shape[-1], 100)

    def scan(self, x):
        for _ in range(min(self.depth, 2)):
            width = self.random.choice((128, 256))
            gates = self.random.choice((1, 4))
            inputs = x @ self.parameter(x.shape[-1], gates * width)
            recurrent = self.parameter(width, gates * width)

            def step(state, now, gates=gates, recurrent=recurrent):
                hidden, cell = state
                parts = jnp.split(now + hidden @ recurrent, gates, -1)
                if gates == 1:
                    hidden = jnp.tanh(parts[0])
                    return (hidden, cell), hidden
                cell = jax.nn.sigmoid(parts[1]) * cell + jax.nn.sigmoid(parts[0]) * jnp.tanh(parts[2])
                hidden = jax.nn.sigmoid(parts[3]) * jnp.tanh(cell)
                return (hidden, cell), hidden

            start = jnp.zeros((x.shape[0], width), x.dtype)
            x = jnp.swapaxes(jax.lax.scan(step, (start, start), jnp.swapaxes(inputs, 0, 1))[1], 0, 1)
        return x @ self.parameter(x.shape[-1], 100)

    def input(self):
        length = self.random.choice((64, 128, 256))
        if self.kind == "tokens":
            return jax.ShapeDtypeStruct((self.batch, length), jnp.int32)
        if self.kind == "images":
            return jax.ShapeDtypeStruct((self.batch, 64, 64, 3), self.dtype)
        return jax.ShapeDtypeStruct((self.batch, length, 128), self.dtype)

    def target_loss(self, values, x, target):
        out = self.run(values, x).astype(jnp.float32)
        if self.loss == "squares":
            return ((out - target[..., None]) ** 2).mean()
        chosen = jnp.take_along_axis(jax.nn.log_softmax(out, -1), target[..., None], -1)
        return -chosen.mean()

    def step(self, values, states, x, target):
        loss, gradients = jax.value_and_grad(self.target_loss)(values, x, target)
        new_values, new_states = [], []
        for value, gradient, state in zip(values, gradients, states):
            state = [0.9 * m + 0.1 * g for m, g in zip(state, (gradient, gradient * gradient))]
            change = {"sgd": lambda s, g: g, "momentum": lambda s, g: s[0], "adam": lambda s, g: s[0] / (jnp.sqrt(s[1]) + 1e-8)}
            new_values.append(value - jnp.asarray(1e-3, value.dtype) * change[self.optimiser](state, gradient))
            new_states.append(state)
        return loss, new_values, new_states

    def lowered(self):
        """StableHLO text for GPUs, and the name of its module."""
        x = self.input()
        jax.eval_shape(lambda t: self.run(None, t), x)
        values = [jax.ShapeDtypeStruct(shape, self.dtype) for shape in self.shapes]
        name = f"generated_{self.seed}_{self.kind}" + ("_train" if self.training else "")
        if self.training:
            moments = {"sgd": 0, "momentum": 1, "adam": 2}[self.optimiser]
            target = jax.ShapeDtypeStruct((self.batch, x.shape[1]) if self.kind != "images" else (self.batch,), jnp.int32)
            arguments, function = (values, [[v] * moments for v in values], x, target), self.step
        else:
            arguments, function = (values, x), lambda v, t: self.run(v, t)

        def program(*given):
            return function(*given)

        program.__name__ = name
        donated = (0, 1) if self.training else ()
        traced = jax.jit(program, donate_argnums=donated).trace(*arguments)
        return name, traced.lower(lowering_platforms=("cuda",)).as_text()
