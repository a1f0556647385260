"""BERT training (Devlin et al., 2018), data parallel: masked language model, post-norm encoder, Adam with weight decay, bf16 with f32 state.

`predictions` tokens of each sequence are masked, 76 of 512 as in MLPerf Training's benchmark, whose sequences are packed: no padding, no mask.
"""
import functools

import jax
import jax.numpy as jnp
from jax import lax

from models.common import Step, abstract

F32, BF16, I32 = jnp.float32, jnp.bfloat16, jnp.int32
VOCABULARY = 30528  # 30,522 word pieces, padded to a multiple of 64
SIZES = {"base": (12, 768, 12), "large": (24, 1024, 16)}  # layers, width, heads


def norm(x, scale):
    x = x.astype(F32)
    mean = x.mean(-1, keepdims=True)
    return ((x - mean) * lax.rsqrt(jnp.square(x - mean).mean(-1, keepdims=True) + 1e-12) * scale).astype(BF16)


def layer(weights, scales, x):
    queries, keys, values = jnp.einsum("bsw,wchd->cbshd", x, weights["qkv"])
    mixed = jax.nn.dot_product_attention(queries, keys, values)
    x = norm(x + jnp.einsum("bshd,hdw->bsw", mixed, weights["out"]), scales[0])
    return norm(x + jax.nn.gelu(x @ weights["up"]) @ weights["down"], scales[1])


def loss(state, tokens, places, labels):
    embedding = state["embed"].astype(BF16)
    x = norm(embedding[tokens], state["first_norm"])
    for at in range(len(state["norm"])):
        with jax.named_scope(f"layers/{at}"):
            x = layer({name: stack[at].astype(BF16) for name, stack in state["layers"].items()}, state["norm"][at], x)
    with jax.named_scope("head"):
        scores = (jnp.take_along_axis(x, places[..., None], axis=1) @ embedding.T).astype(F32)
        return -jnp.take_along_axis(jax.nn.log_softmax(scores), labels[..., None], -1).mean()


def train(weights, mean, square, tokens, places, labels):
    gradients = jax.grad(loss)(weights, tokens, places, labels)
    with jax.named_scope("adam"):
        mean = jax.tree.map(lambda old, new: 0.9 * old + 0.1 * new, mean, gradients)
        square = jax.tree.map(lambda old, new: 0.999 * old + 0.001 * new * new, square, gradients)
        weights = jax.tree.map(lambda w, m, s: w - 1e-4 * (m / (jnp.sqrt(s) + 1e-6) + 0.01 * w), weights, mean, square)
    return weights, mean, square


def build(mesh, *, size="large", batch=64, sequence=512, predictions=76):
    layers, width, heads = SIZES[size]
    name, weight = mesh.axis_names[0], functools.partial(abstract, mesh, dtype=F32)
    stacks = {"qkv": weight((layers, width, 3, heads, width // heads)), "out": weight((layers, heads, width // heads, width)),
              "up": weight((layers, width, 4 * width)), "down": weight((layers, 4 * width, width))}
    weights = {"embed": weight((VOCABULARY, width)), "first_norm": weight((width,)), "norm": weight((layers, 2, width)), "layers": stacks}
    tokens = [abstract(mesh, (batch, length), I32, name) for length in (sequence, predictions, predictions)]
    return Step(train, (weights, weights, weights, *tokens), donate=(0, 1, 2))
