"""A LLaMA-3-style training step in plain JAX, FSDP by default: what MaxText's step does, operation for operation where that matters.

bf16 weights and optimiser state, RMS norm in f32, rotary positions, causal attention within segments, SwiGLU; each layer is recomputed
in the backward pass but for its projections; gradients are clipped by their global norm; AdamW. `scan` runs the layers as a loop.
"""
import dataclasses
import functools

import jax
import jax.numpy as jnp
from jax import lax
from jax.ad_checkpoint import checkpoint_name
from jax.sharding import NamedSharding, PartitionSpec as P

from models.common import Step, abstract

F32, BF16, I32 = jnp.float32, jnp.bfloat16, jnp.int32
HEAD = 128
SAVED = ("query", "key", "value", "attention", "gate", "up")
MASKED = -0.7 * float(jnp.finfo(F32).max)
LEARNING_RATE, WARM_UP, STEPS = 3e-5, 15.0, 150.0
BETA1, BETA2, EPSILON, EPSILON_ROOT, DECAY, CLIP = 0.9, 0.95, 1e-8, 0.0, 0.1, 1.0


@dataclasses.dataclass(frozen=True)
class Size:
    """Dimensions; the head dimension is 128."""

    width: int
    heads: int
    kv_heads: int
    layers: int
    mlp: int


# Up to 3b: width 64 x heads and MLP 3.5 x width, as the prototype's published exports have them. 8b, 70b and llama2 are Meta's.
SIZES = {
    "llama3-tiny": Size(128, 2, 2, 2, 448),
    "llama3-100m": Size(576, 9, 9, 7, 2016),
    "llama3-200m": Size(832, 13, 13, 10, 2912),
    "llama3-500m": Size(1280, 20, 20, 16, 4480),
    "llama3-1b": Size(1792, 28, 28, 22, 6272),
    "llama3-2b": Size(2240, 35, 35, 28, 7840),
    "llama3-3b": Size(2624, 41, 41, 32, 9184),
    "llama3-8b": Size(4096, 32, 8, 32, 14336),
    "llama3-70b": Size(8192, 64, 8, 80, 28672),
    "llama2-7b": Size(4096, 32, 32, 32, 11008),
    "llama2-13b": Size(5120, 40, 40, 40, 13824),
    "llama2-70b": Size(8192, 64, 8, 80, 28672),
}
VOCABULARIES = {"llama2": 32000, "llama3": 128256}  # of Meta's tokenizers


def axis(mesh, *names):
    """Those of the axes that the mesh has with more than one device."""
    there = tuple(name for name in names if mesh.shape.get(name, 1) > 1)
    return there[0] if len(there) == 1 else there or None


def constrain(x, mesh, *axes):
    return lax.with_sharding_constraint(x, NamedSharding(mesh, P(*axes)))


@jax.named_scope("norm")
def norm(x, scale):
    x32 = x.astype(F32)
    mean = jnp.mean(lax.square(x32), axis=-1, keepdims=True)
    return (x32 * lax.rsqrt(mean + 1e-5)).astype(BF16) * scale


@jax.named_scope("rotate")
def rotate(x, positions):
    half = HEAD // 2
    timescale = 500000.0 ** (2 * jnp.arange(half) / HEAD)
    angle = positions[:, :, None, None].astype(F32) / timescale
    sine, cosine = jnp.sin(angle).astype(BF16), jnp.cos(angle).astype(BF16)
    first, second = jnp.split(x, 2, axis=-1)
    return jnp.concatenate((first * cosine - second * sine, second * cosine + first * sine), axis=-1)


@jax.named_scope("attention")
def attention(q, k, v, segments):
    """[batch, sequence, heads, 128] each; keys and values may have fewer heads than queries."""
    batch, length, heads, _ = q.shape
    groups = heads // k.shape[2]
    scores = jnp.einsum("btkgd,bskd->bkgts", q.reshape(batch, length, k.shape[2], groups, HEAD), k)
    same = (segments[:, :, None] == segments[:, None, :])[:, None, None]
    causal = lax.broadcasted_iota(I32, (length, length), 0) >= lax.broadcasted_iota(I32, (length, length), 1)
    mask = jnp.where(same & causal[None, None, None], 0.0, MASKED)
    scores = jnp.where(mask >= MASKED * 0.5, scores, jnp.asarray(MASKED, BF16))
    scaled = jnp.exp(scores - jnp.max(scores, axis=-1, keepdims=True))
    total = jnp.sum(scaled, axis=-1, keepdims=True)
    mixed = jnp.einsum("bkgts,bskd->btkgd", scaled, v)
    total = jnp.moveaxis(total, 3, 1)
    return (mixed / total).reshape(batch, length, heads, HEAD)


def layer(mesh, x, weights, positions, segments):
    data, tensor = axis(mesh, "data", "fsdp"), axis(mesh, "tensor")
    x = constrain(x, mesh, data, None, None)
    h = constrain(norm(x, weights["norm1"]), mesh, data, None, None)
    with jax.named_scope("qkv"):
        q, k, v = (jnp.einsum("btw,whd->bthd", h, weights[name]) for name in ("query", "key", "value"))
    q, k = rotate(q, positions), rotate(k, positions)
    q, k, v = (checkpoint_name(constrain(each, mesh, data, None, tensor, None), name) for each, name in zip((q, k, v), SAVED))
    mixed = constrain(attention(q, k, v, segments), mesh, data, None, tensor, None)
    with jax.named_scope("out"):
        x = x + constrain(checkpoint_name(jnp.einsum("bthd,hdw->btw", mixed, weights["out"]), "attention"), mesh, data, None, None)
    h = constrain(norm(x, weights["norm2"]), mesh, data, None, None)
    with jax.named_scope("mlp"):
        gate = jax.nn.silu(checkpoint_name(h @ weights["gate"], "gate"))
        hidden = constrain(gate * checkpoint_name(h @ weights["up"], "up"), mesh, data, None, tensor)
        return constrain(constrain(hidden @ weights["down"], mesh, data, None, None) + x, mesh, data, None, None)


def layers_of(mesh, scan, x, stack, positions, segments):
    one = jax.checkpoint(functools.partial(layer, mesh), policy=jax.checkpoint_policies.save_only_these_names(*SAVED),
                         prevent_cse=not scan)
    if scan:
        with jax.named_scope("layers"):
            return lax.scan(lambda carry, weights: (one(carry, weights, positions, segments), None), x, stack)[0]
    for at, weights in enumerate(stack):
        with jax.named_scope(f"layers/{at}"):
            x = one(x, weights, positions, segments)
    return x


@jax.custom_jvp
@jax.named_scope("cross_entropy")
def cross_entropy(logits, one_hot):
    shifted = logits - lax.stop_gradient(jnp.max(logits, axis=-1, keepdims=True))
    return -jnp.sum(one_hot * (shifted - jnp.log(jnp.sum(jnp.exp(shifted), axis=-1, keepdims=True))), axis=-1)


@cross_entropy.defjvp
def _cross_entropy_jvp(primals, tangents):
    logits, one_hot = primals
    return cross_entropy(logits, one_hot), jnp.sum((jax.nn.softmax(logits) - one_hot) * tangents[0], axis=-1)


def loss(mesh, scan, vocabulary, weights, batch):
    data = axis(mesh, "data", "fsdp")
    with jax.named_scope("embedding"):
        chosen = jax.nn.one_hot(batch["inputs"], vocabulary, dtype=BF16)
        x = constrain(jnp.einsum("btv,vw->btw", chosen, weights["embedding"]), mesh, data, None, None)
    x = layers_of(mesh, scan, x, weights["layers"], batch["positions"], batch["segments"])
    h = norm(x, weights["norm"])
    with jax.named_scope("logits"):
        logits = constrain(h @ weights["logits"], mesh, data, None, axis(mesh, "tensor")).astype(F32)
    each = cross_entropy(logits, jax.nn.one_hot(batch["targets"], vocabulary, dtype=F32))
    each = constrain(each, mesh, data, None) * (batch["segments"] != 0)
    return jnp.sum(each) / (jnp.sum(batch["segments"] != 0) + 1e-8)


def global_norm(tree):
    return jnp.sqrt(sum(jnp.sum(jnp.square(leaf)) for leaf in jax.tree.leaves(tree)))


def learning_rate(count):
    warm = LEARNING_RATE * count / WARM_UP
    decayed = LEARNING_RATE * (0.1 + 0.45 * (1 + jnp.cos(jnp.pi * jnp.minimum((count - WARM_UP) / STEPS, 1.0))))
    return jnp.where(count < WARM_UP, warm, decayed)


@jax.named_scope("clip")
def clip(gradients):
    total = global_norm(gradients)
    small = total < CLIP
    return jax.tree.map(lambda g: lax.select(small, g, (g / total.astype(g.dtype)) * CLIP), gradients)


@jax.named_scope("adamw")
def adamw(weights, gradients, state):
    count = state["count"] + 1
    mu = jax.tree.map(lambda g, m: (1 - BETA1) * g + BETA1 * m, gradients, state["mu"])
    nu = jax.tree.map(lambda g, v: (1 - BETA2) * (g * g) + BETA2 * v, gradients, state["nu"])
    unbiased1, unbiased2 = 1 - BETA1 ** count.astype(F32), 1 - BETA2 ** count.astype(F32)
    mu_hat = jax.tree.map(lambda m: m / unbiased1.astype(m.dtype), mu)
    nu_hat = jax.tree.map(lambda v: v / unbiased2.astype(v.dtype), nu)
    update = jax.tree.map(lambda m, v: m / (jnp.sqrt(v + EPSILON_ROOT) + EPSILON), mu_hat, nu_hat)
    update = jax.tree.map(lambda u, w: u + DECAY * w, update, weights)
    rate = -learning_rate(state["count"])
    update = jax.tree.map(lambda u: rate.astype(u.dtype) * u, update)
    return jax.tree.map(lambda w, u: w + u, weights, update), {"count": count, "mu": mu, "nu": nu}


def train_step(mesh, scan, vocabulary, weights, state, batch):
    value, gradients = jax.value_and_grad(functools.partial(loss, mesh, scan, vocabulary))(weights, batch)
    raw = global_norm(gradients)
    clipped = clip(gradients)
    weights, state = adamw(weights, clipped, state)
    return weights, state, {"loss": value, "gradient_norm": global_norm(clipped), "raw_gradient_norm": raw,
                            "weight_norm": global_norm(weights)}


def shapes(size, vocabulary, scan):
    """Shapes and axes of all weights: the first large dimension by FSDP, heads and MLP by tensor parallelism."""
    one = {
        "norm1": ((size.width,), ()), "norm2": ((size.width,), ()),
        "query": ((size.width, size.heads, HEAD), ("fsdp", "tensor", None)),
        "key": ((size.width, size.kv_heads, HEAD), ("fsdp", "tensor", None)),
        "value": ((size.width, size.kv_heads, HEAD), ("fsdp", "tensor", None)),
        "out": ((size.heads, HEAD, size.width), ("tensor", None, "fsdp")),
        "gate": ((size.width, size.mlp), ("fsdp", "tensor")),
        "up": ((size.width, size.mlp), ("fsdp", "tensor")),
        "down": ((size.mlp, size.width), ("tensor", "fsdp")),
    }
    if scan:
        layers = {name: ((size.layers, *shape), (None, *axes)) for name, (shape, axes) in one.items()}
    else:
        layers = [one] * size.layers
    return {"layers": layers, "norm": ((size.width,), ()), "logits": ((size.width, vocabulary), ("fsdp", "tensor")),
            "embedding": ((vocabulary, size.width), ("tensor", "fsdp"))}


def build(mesh, *, model, batch=None, sequence=4096, vocabulary=None, scan=False):
    size = SIZES[model]
    vocabulary = vocabulary or VOCABULARIES[model.split("-")[0]]
    is_leaf = lambda node: isinstance(node, tuple)  # noqa: E731
    weights = jax.tree.map(lambda leaf: abstract(mesh, leaf[0], BF16, *(axis(mesh, a) if a else None for a in leaf[1])),
                           shapes(size, vocabulary, scan), is_leaf=is_leaf)
    state = {"count": abstract(mesh, (), I32), "mu": weights, "nu": weights}
    data = axis(mesh, "data", "fsdp")
    rows = batch or max(mesh.shape.get("data", 1) * mesh.shape.get("fsdp", 1), 1)
    tokens = abstract(mesh, (rows, sequence), I32, data, None)
    given = {name: tokens for name in ("inputs", "targets", "positions", "segments")}
    return Step(functools.partial(train_step, mesh, scan, vocabulary), (weights, state, given), donate=(0, 1),
                results=lambda out: (jax.tree.map(lambda w: w.sharding, weights), jax.tree.map(lambda s: s.sharding, state), None))
