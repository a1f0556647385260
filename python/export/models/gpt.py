"""GPT inference, tensor parallel: prefill of a prompt, and one step of decoding with a cache of keys and values.

Dimensions are those of GPT-3 6.7B (4096 wide, 32 heads) with four layers unless told otherwise.
"""
import functools
import math

import jax
import jax.numpy as jnp
from jax import lax

from models.common import Step, abstract

F32, BF16, I32 = jnp.float32, jnp.bfloat16, jnp.int32
VOCABULARY = 50304


def norm(x, scale):
    x32 = x.astype(F32)
    mean = x32.mean(-1, keepdims=True)
    return ((x32 - mean) * lax.rsqrt(jnp.square(x32 - mean).mean(-1, keepdims=True) + 1e-5)).astype(BF16) * scale


def attend(q, k, v, mask):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32) / math.sqrt(q.shape[-1])
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(jnp.where(mask, scores, -1e9)).astype(BF16), v)


def block(w, at, x, mix):
    qkv = jnp.einsum("bsw,wchd->cbshd", norm(x, w["norm"][at, 0]), w["qkv"][at])
    x = x + jnp.einsum("bshd,hdw->bsw", mix(at, *qkv), w["out"][at])
    return x + jax.nn.gelu(norm(x, w["norm"][at, 1]) @ w["up"][at]) @ w["down"][at]


def decode(layers, w, cache, token, position):
    kept = []

    def mix(at, q, k, v):
        kept.append(lax.dynamic_update_slice(cache[at], jnp.stack([k, v]), (0, 0, position, 0, 0)))
        seen = (jnp.arange(cache.shape[3]) <= position)[None, None, None]
        return attend(q, kept[-1][0], kept[-1][1], seen)

    x = w["embed"][token][:, None]
    for at in range(layers):
        with jax.named_scope(f"layers/{at}"):
            x = block(w, at, x, mix)
    return jnp.argmax(x[:, 0] @ w["embed"].T, -1).astype(I32), jnp.stack(kept)


def prefill(layers, w, tokens):
    length = tokens.shape[1]
    mask = jnp.tril(jnp.ones((length, length), bool))[None, None]
    x = w["embed"][tokens]
    for at in range(layers):
        with jax.named_scope(f"layers/{at}"):
            x = block(w, at, x, lambda at, q, k, v: attend(q, k, v, mask))
    return x[:, -1] @ w["embed"].T


def build(mesh, *, phase, layers=4, width=4096, heads=32, batch=16, context=2048, prompt=1024):
    name, size = mesh.axis_names[0], width // heads
    weight = functools.partial(abstract, mesh)
    weights = {"embed": weight((VOCABULARY, width), BF16), "norm": weight((layers, 2, width), BF16),
               "qkv": weight((layers, width, 3, heads, size), BF16, None, None, None, name),
               "out": weight((layers, heads, size, width), BF16, None, name),
               "up": weight((layers, width, 4 * width), BF16, None, None, name), "down": weight((layers, 4 * width, width), BF16, None, name)}
    if phase == "prefill":
        return Step(functools.partial(prefill, layers), (weights, weight((batch, prompt), I32)))
    cache = weight((layers, 2, batch, context, heads, size), BF16, None, None, None, None, name)
    return Step(functools.partial(decode, layers), (weights, cache, weight((batch,), I32), weight((), I32)))
