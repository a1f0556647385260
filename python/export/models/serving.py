"""One step of an inference server: `prefill` of whole prompts, `decode` of a token of each request, or both `mixed` in one step.

Weights of a layer are arrays of their own, with queries, keys and values in one and gate and up in one, as engines store them; tensor ranks hold
their heads and columns. Caches of keys and of values are pages of 16 tokens, [pages, page, heads, size], given away to the step that writes them;
a table has the pages of each request. Attention is cuDNN's fused kernel, over the pages when decoding. A rank has at least one head of keys.
Models with latent vectors in place of keys and values: models/latent_attention.py.
"""
import functools
import math
import types

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec as P

from models import latent_attention
from models.common import Step, abstract
from models.experts_of_server import experts, expert_weights
from models.llama import norm
from models.refused import Refused
from models.server_configuration import read

F32, BF16, I32, F8, F4 = jnp.float32, jnp.bfloat16, jnp.int32, jnp.float8_e4m3fn, jnp.float4_e2m1fn
NVFP4_BLOCK = 16  # elements of the contraction that share a scale
CACHES = {"bf16": BF16, "fp8": F8}
PRICED = "take another format with --set; `hespas serve` prices the others without a program (--weights, --kv)"


def matmul(x, weight):
    """Weights of 8 bits multiply activations of 8 bits, integers of 4 bits are widened; both have a scale for each column. Floats of 4 bits multiply
    such activations, with scales of blocks."""
    if not isinstance(weight, tuple):
        return x @ weight
    if weight[0].dtype == F4:
        return block_scaled(x, *weight)
    values, scale = weight
    if values.dtype != F8:
        return (x @ values.astype(BF16)) * scale
    largest = jnp.max(jnp.abs(x)).astype(F32) / 448
    out = lax.dot_general((x.astype(F32) / largest).astype(F8), values, (((1,), (0,)), ((), ())), preferred_element_type=F32)
    return (out * (largest * scale)).astype(BF16)


def block_scaled(x, values, scales, largest):
    """By XLA's custom call; blocks of activations take the largest magnitude as their scale."""
    from jax._src.cudnn import scaled_matmul_stablehlo as kernels

    blocks = x.reshape(x.shape[0], -1, NVFP4_BLOCK)
    own = (jnp.max(jnp.abs(blocks), -1) / 6).astype(F8)
    narrow = (blocks / own[..., None].astype(BF16)).astype(F4).reshape(x.shape)
    (out,) = kernels._scaled_matmul_impl(*(each[None] for each in (narrow, values, own, scales)), preferred_element_type=jnp.dtype(BF16))
    return out[0] * largest


def rotated(x, position):
    half = x.shape[-1] // 2
    angle = position[:, None].astype(F32) * jnp.power(500000.0, -jnp.arange(half, dtype=F32) / half)
    sine, cosine = jnp.sin(angle)[:, None], jnp.cos(angle)[:, None]
    first, second = x[..., :half].astype(F32), x[..., half:].astype(F32)
    return jnp.concatenate([first * cosine - second * sine, second * cosine + first * sine], -1).astype(BF16)


def fused(q, k, v, lengths=None, table=None, window=None, scale=None):
    """[batch, tokens, heads, size]; keys and values too, or pages of them with `table`."""
    from jax._src.cudnn import fused_attention_stablehlo as kernels

    none, masks = jnp.zeros((0,), BF16), kernels.MaskType
    places, mask = (none,) * 7, masks.CAUSAL
    if table is not None:
        ones = jnp.ones((q.shape[0],), I32)
        places, mask = (none, ones, lengths, none, none, table, table), masks.PADDING
    return kernels._dot_product_attention_fwd_impl(q, k, v, *places, scale=scale or q.shape[-1] ** -0.5, seed=42, dropout_rate=0.0, variadic_args=(False, False),
                                                   mask_type=mask, layout=kernels.AttentionLayout.BTNH.value, sliding_window_length=window, is_training=False)[0]


def written(cache, slot, new):
    pages, page, *head = cache.shape
    return cache.reshape(pages * page, *head).at[slot].set(new.astype(cache.dtype)).reshape(cache.shape)


KERNELS = types.SimpleNamespace(matmul=matmul, rotated=rotated, fused=fused, written=written)


def attention(model, shape, w, x, cache, where, window):
    """`where`: positions and slots of all rows, and for those that decode lengths and pages."""
    if model["latent"]:
        return latent_attention.attention(model, shape, w, x, cache, where, KERNELS)
    heads, kept, size = shape.heads, shape.kv_heads, model["head_dim"]
    mixed = matmul(x, w["qkv"]) + (w["qkv_bias"] if "qkv_bias" in w else 0)
    q, k, v = jnp.split(mixed.reshape(x.shape[0], heads + 2 * kept, size), [heads, heads + kept], axis=1)
    if "q_norm" in w:
        q, k = norm(q, w["q_norm"]), norm(k, w["k_norm"])
    q, k = rotated(q, where["position"]), rotated(k, where["position"])
    cache = {"k": written(cache["k"], where["slot"], k), "v": written(cache["v"], where["slot"], v)}
    prompt = shape.prompts * shape.prompt
    parts = []
    if prompt:
        own = [each[:prompt].reshape(shape.prompts, shape.prompt, -1, size) for each in (q, k, v)]
        parts.append(fused(*own, window=window).reshape(prompt, heads * size))
    if shape.batch:
        pages = list(cache.values())  # the kernel widens narrower ones
        out = fused(q[prompt:, None], *pages, where["length"], where["table"], window)
        parts.append(out.reshape(shape.batch, heads * size))
    return matmul(jnp.concatenate(parts), w["out"]), cache


def gated(w, x):
    gate, up = jnp.split(matmul(x, w["gate_up"]), 2, axis=-1)
    return matmul(jax.nn.silu(gate) * up, w["down"])


def step(model, shape, axis, weights, caches, tokens, where):
    """Of one rank."""
    total = functools.partial(lax.psum, axis_name=axis) if shape.ranks > 1 else lambda x: x
    share = weights["embed"].shape[0]
    first = lax.axis_index(axis) * share if shape.ranks > 1 else 0
    mine = (tokens >= first) & (tokens < first + share)
    x = total(jnp.where(mine[:, None], weights["embed"][jnp.where(mine, tokens - first, 0)], 0))
    kept = []
    for at, w in enumerate(weights["layers"]):
        with jax.named_scope(f"layers/{at}"):
            out, cache = attention(model, shape, w, norm(x, w["norm1"]), caches[at], where, model["windows"][at])
            kept.append(cache)
            x = x + total(out)
            y = norm(x, w["norm2"])
            x = x + total(experts(model, w, y) if "router" in w else gated(w, y))
    last = jnp.concatenate([x[:shape.prompts * shape.prompt].reshape(shape.prompts, -1, x.shape[1])[:, -1], x[shape.prompts * shape.prompt:]]) \
        if shape.prompts else x
    logits = norm(last, weights["norm"]) @ (weights["embed"].T if model["tied"] else weights["head"])
    if shape.ranks > 1:
        logits = lax.all_gather(logits, axis, axis=1, tiled=True)
    return jnp.argmax(logits.astype(F32), -1).astype(I32), kept


class Shape:
    """Of a rank's part of the step."""

    def __init__(self, model, ranks, phase, batch, prompts, prompt, context):
        if phase not in ("decode", "prefill", "mixed"):
            raise Refused(f"a step is decode, prefill or mixed, not `{phase}`")
        if model["heads"] % ranks:
            raise Refused(f"{ranks} tensor ranks do not divide {model['heads']} heads")
        if model["kv_heads"] % ranks and ranks % model["kv_heads"]:
            raise Refused(f"{ranks} tensor ranks neither divide {model['kv_heads']} heads of keys and values nor are a multiple of them")
        self.ranks, self.heads, self.kv_heads = ranks, model["heads"] // ranks, max(1, model["kv_heads"] // ranks)
        self.batch = batch if phase != "prefill" else 0
        self.prompts, self.prompt = (prompts, prompt) if phase != "decode" else (0, 0)
        self.context = context
        self.rows = self.batch + self.prompts * self.prompt


class Arrays:
    """Abstract weights: `columns` and `rows` are split over the ranks. Shapes are of all ranks together."""

    def __init__(self, mesh, weights):
        self.mesh, self.axis, self.weights = mesh, mesh.axis_names[0], weights

    def whole(self, *shape, dtype=BF16):
        return abstract(self.mesh, shape, dtype)

    def split(self, at, *shape, dtype=BF16):
        return abstract(self.mesh, shape, dtype, *(self.axis if i == at else None for i in range(len(shape))))

    def weight(self, at, *shape):
        kinds = {"bf16": BF16, "fp8": F8, "int4": jnp.int4, "nvfp4": F4}
        if self.weights not in kinds:
            raise Refused(f"weights are {', '.join(kinds)}, not `{self.weights}`", PRICED)
        if self.weights == "nvfp4":  # [columns, rows], with scales of blocks of rows and one of all
            rows, columns = shape
            return self.split(1 - at, columns, rows, dtype=F4), self.split(1 - at, columns, rows // NVFP4_BLOCK, dtype=F8), self.whole(dtype=BF16)
        values = self.split(at, *shape, dtype=kinds[self.weights])
        scale = self.split(0, shape[-1], dtype=BF16) if at == len(shape) - 1 else self.whole(shape[-1])
        return values if self.weights == "bf16" else (values, scale)


def layer_weights(model, shape, arrays, dense):
    width, size = model["width"], model["head_dim"]
    columns = shape.ranks * (shape.heads + 2 * shape.kv_heads) * size
    w = {"norm1": arrays.whole(width), "norm2": arrays.whole(width)}
    if model["latent"]:
        w |= latent_attention.weights(model, arrays)
    else:
        w |= {"qkv": arrays.weight(1, width, columns), "out": arrays.weight(0, model["heads"] * size, width)}
    if model["qk_norm"]:
        w |= {"q_norm": arrays.whole(size), "k_norm": arrays.whole(size)}
    if model["qkv_bias"]:
        w |= {"qkv_bias": arrays.split(0, columns)}
    if not dense:
        return w | expert_weights(model, arrays)
    return w | {"gate_up": arrays.weight(1, width, 2 * model["mlp"]), "down": arrays.weight(0, model["mlp"], width)}


def build(mesh, *, model, phase="decode", batch=64, context=1280, prompts=1, prompt=1024, page=16, weights="bf16", kv="bf16", layers=0):
    model = read(model, layers)
    if weights == "nvfp4" and (model["latent"] or model["experts"]):
        raise Refused("nvfp4 weights are of models without experts and latent vectors", PRICED)
    arrays = Arrays(mesh, weights)
    shape = Shape(model, mesh.shape[arrays.axis], phase, batch, prompts, prompt, context)
    vocabulary = math.ceil(model["vocabulary"] / shape.ranks) * shape.ranks
    given = {"embed": arrays.split(0, vocabulary, model["width"]), "norm": arrays.whole(model["width"]),
             "layers": [layer_weights(model, shape, arrays, at < model["dense_layers"]) for at in range(model["layers"])]}
    if not model["tied"]:
        given["head"] = arrays.split(1, model["width"], vocabulary)
    each = math.ceil(context / page)
    pages = shape.batch * each + shape.prompts * math.ceil(shape.prompt / page)
    if kv not in CACHES:
        raise Refused(f"kv is {', '.join(CACHES)}, not `{kv}`", PRICED)
    if model["latent"]:
        cache = latent_attention.cache(model, arrays, pages, page, CACHES[kv])
    else:
        each_kind = arrays.split(2, pages, page, shape.ranks * shape.kv_heads, model["head_dim"], dtype=CACHES[kv])
        cache = {"k": each_kind, "v": each_kind}
    caches = [cache] * model["layers"]
    where = {"position": arrays.whole(shape.rows, dtype=I32), "slot": arrays.whole(shape.rows, dtype=I32)}
    if shape.batch:
        where |= {"length": arrays.whole(shape.batch, dtype=I32), "table": arrays.whole(shape.batch, 1, each, 1, dtype=I32)}
    arguments = (given, caches, arrays.whole(shape.rows, dtype=I32), where)
    specs = jax.tree.map(lambda x: x.sharding.spec, arguments)
    run = functools.partial(step, model, shape, arrays.axis)
    if shape.ranks > 1:
        run = jax.shard_map(run, mesh=mesh, in_specs=specs, out_specs=(P(), specs[1]), check_vma=False)
    return Step(run, arguments, donate=(1,), platform="cuda")
