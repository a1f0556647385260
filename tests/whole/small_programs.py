"""usage: small_programs.py FOLDER   writes small JAX programs, XLA's optimised HLO of them, and what XLA says of their memory (memory.json)."""
import json
import os
import pathlib
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

F32 = jnp.float32


def of(*shape):
    return jax.ShapeDtypeStruct(shape, F32)


def mlp(layers, x):
    for weights, bias in layers:
        x = jnp.tanh(x @ weights + bias)
    return x


def loss(layers, x, y):
    return jnp.mean(jnp.square(mlp(layers, x) - y))


def sgd(layers, x, y):
    value, gradients = jax.value_and_grad(loss)(layers, x, y)
    return jax.tree.map(lambda p, g: p - 0.1 * g, layers, gradients), value


def adam(layers, first, second, x, y):
    value, gradients = jax.value_and_grad(loss)(layers, x, y)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
    second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, second, gradients)
    return jax.tree.map(lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), layers, first, second), first, second, value


def attention(q, k, v):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 8
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)


def attention_gradients(q, k, v):
    return jax.grad(lambda *all: attention(*all).sum(), argnums=(0, 1, 2))(q, k, v)


def convolutions(kernels, x):
    for kernel in kernels:
        x = jax.nn.relu(jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
    return x.mean()


def loop(layers, x):
    return jax.lax.scan(lambda state, weights: (jnp.tanh(state @ weights), None), x, layers)[0].sum()


def power_iteration(matrix, x):
    return jax.lax.fori_loop(0, 50, lambda i, x: matrix @ x / jnp.linalg.norm(x), x)


def until(x):
    return jax.lax.while_loop(lambda state: state[0] < 10, lambda state: (state[0] + 1, jnp.sin(state[1]) @ state[1]), (0, x))[1]


def branches(first, x):
    return jax.lax.cond(first, lambda x: jnp.tanh(x @ x), lambda x: x * 2, x)


def spectrum(x):
    return jnp.abs(jnp.fft.fft(x)).sum(0)


def write_cache(keys, key, at):
    keys = jax.lax.dynamic_update_slice(keys, key, (0, at, 0))
    return keys, jnp.einsum("bsd,btd->bst", keys, key)


LAYERS = [(of(512, 512), of(512))] * 6
ROWS = of(2048, 512)
HEADS = of(4, 512, 8, 64)
# Function, arguments, donated ones.
PROGRAMS = {
    "sgd": (sgd, (LAYERS, ROWS, ROWS), (0,)),
    "adam": (adam, (LAYERS, LAYERS, LAYERS, ROWS, ROWS), (0, 1, 2)),
    "attention": (attention, (HEADS, HEADS, HEADS), ()),
    "attention_gradients": (attention_gradients, (HEADS, HEADS, HEADS), ()),
    "convolutions": (jax.grad(convolutions), ([of(3, 3, 32, 32)] * 4, of(8, 64, 64, 32)), ()),
    "loop": (jax.grad(loop), (of(8, 512, 512), ROWS), ()),
    "forward": (mlp, (LAYERS, ROWS), ()),
    "squares": (lambda x: mlp([(x, 0.0)] * 6, x), (of(1024, 1024),), ()),
    "sgd_kept": (sgd, (LAYERS, ROWS, ROWS), ()),
    "power_iteration": (power_iteration, (of(1024, 1024), of(1024)), ()),
    "until": (until, (of(512, 512),), ()),
    "branches": (branches, (jax.ShapeDtypeStruct((), jnp.bool_), of(1024, 1024)), ()),
    "spectrum": (spectrum, (jax.ShapeDtypeStruct((256, 1024), jnp.complex64),), ()),
    "sort": (lambda x: (jnp.sort(x), jnp.argsort(x)), (of(1024, 1024),), ()),
    "random": (lambda key: jax.random.normal(key, (1024, 1024)), (jax.ShapeDtypeStruct((2,), jnp.uint32),), ()),
    "write_cache": (write_cache, (of(8, 1024, 256), of(8, 1, 256), jax.ShapeDtypeStruct((), jnp.int32)), (0,)),
}


def main(folder):
    memory = {}
    for name, (function, arguments, donated) in PROGRAMS.items():
        lowered = jax.jit(function, donate_argnums=donated).lower(*arguments)
        compiled = lowered.compile()
        (folder / f"{name}.mlir").write_text(lowered.as_text())
        (folder / f"{name}.hlo").write_text(compiled.as_text())
        sizes = compiled.memory_analysis()
        memory[name] = (sizes.argument_size_in_bytes + sizes.output_size_in_bytes + sizes.temp_size_in_bytes - sizes.alias_size_in_bytes)
    (folder / "memory.json").write_text(json.dumps(memory))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
