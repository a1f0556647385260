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


def normalised(x, scale, shift):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(jnp.square(x - mean).mean(-1, keepdims=True) + 1e-5) * scale + shift


def experts(router, up, down, x):
    weights, chosen = jax.lax.top_k(jax.nn.softmax(x @ router), 2)
    gates = jax.nn.one_hot(chosen, router.shape[1]) * weights[..., None]
    return jnp.einsum("tef,efd,tke->td", jax.nn.gelu(jnp.einsum("td,edf->tef", x, up)), down, gates)


def mixer(layers, x):
    for across, back, up, down in layers:
        y = normalised(x, 1.0, 0.0).swapaxes(1, 2)
        x = x + (jax.nn.gelu(y @ across) @ back).swapaxes(1, 2)
        x = x + jax.nn.gelu(normalised(x, 1.0, 0.0) @ up) @ down
    return jnp.square(x).sum()


def dropout(layers, x, key):
    for weights in layers:
        x = jax.nn.relu(x @ weights)
        x = x * jax.random.bernoulli(key, 0.9, x.shape) / 0.9
    return x.sum()


def centres(middle, x):
    nearest = jnp.square(x[:, None, :] - middle[None]).sum(-1).argmin(1)
    chosen = jax.nn.one_hot(nearest, middle.shape[0])
    return (chosen.T @ x) / jnp.maximum(chosen.sum(0)[:, None], 1)


def recurrent(weights, x):
    return jax.lax.scan(lambda h, x: (jnp.tanh(h @ weights + x), None), jnp.zeros(x.shape[1:]), x)[0].sum()


def channels_first(kernels, x):
    for kernel in kernels:
        x = jax.nn.relu(jax.lax.conv(x, kernel, (1, 1), "SAME"))
    return x.sum()


def matrices(a, b):
    return jax.vmap(lambda a, b: jnp.tanh(a @ b) @ b.T)(a, b)


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
    "normalised": (normalised, (of(4096, 1024), of(1024), of(1024)), ()),
    "experts": (experts, (of(256, 8), of(8, 256, 512), of(8, 512, 256), of(1024, 256)), ()),
    "mixer": (jax.grad(mixer), ([(of(64, 256), of(256, 64), of(256, 512), of(512, 256))] * 3, of(16, 64, 256)), ()),
    "dropout": (jax.grad(dropout), ([of(512, 512)] * 4, of(1024, 512), jax.ShapeDtypeStruct((2,), jnp.uint32)), ()),
    "centres": (centres, (of(64, 128), of(4096, 128)), ()),
    "recurrent": (jax.grad(recurrent), (of(256, 256), of(64, 64, 256)), ()),
    "channels_first": (jax.grad(channels_first), ([of(32, 16, 3, 3), of(32, 32, 3, 3)], of(8, 16, 64, 64)), ()),
    "matrices": (matrices, (of(32, 128, 128), of(32, 128, 128)), ()),
    "rows": (lambda table, at: table[at].sum(1), (of(4096, 256), jax.ShapeDtypeStruct((64, 128), jnp.int32)), ()),
    "softmax": (jax.nn.softmax, (of(4096, 1024),), ()),
    "largest": (lambda x: (x.argmax(-1), x.max(-1)), (of(2048, 1024),), ()),
    "summed": (lambda x, at: jax.ops.segment_sum(x, at, 1024), (of(16384, 128), jax.ShapeDtypeStruct((16384,), jnp.int32)), ()),
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
