"""Attention as the kernels that a run calls: cuDNN's fused attention, TPU splash attention, the older Pallas flash kernel, or plain matmuls.

Kernels see one device's part, so they stand in jax.shard_map. Queries are [batch, sequence, heads, size]; keys and values may have fewer heads.
"""
import functools
import json
import math

import jax
import jax.numpy as jnp
from jax.ad_checkpoint import checkpoint_name

from models.ring_attention import ring


def plain(q, k, v, window, blocks=None, wide=False):
    """Scores are written out, as `dot_product` does: as the matmul makes them; with `wide` the softmax is one of f32 (float32_logits)."""
    del blocks
    batch, length, heads, size = q.shape
    grouped = q.reshape(batch, length, k.shape[2], heads // k.shape[2], size)
    scores = jnp.einsum("btkgd,bskd->bkgts", grouped, k)
    weights = causal_softmax(scores.astype(jnp.float32) if wide else scores, window).astype(q.dtype)
    return jnp.einsum("bkgts,bskd->btkgd", weights, v).reshape(batch, length, heads, v.shape[-1])


def causal_softmax(scores, window):
    row, column = (jax.lax.broadcasted_iota(jnp.int32, scores.shape[-2:], axis) for axis in (0, 1))
    seen = (row >= column) & (row - column < window) if window else row >= column
    return jax.nn.softmax(jnp.where(seen, scores, -1e30), axis=-1)


def praxis(q, k, v, window, blocks=None):
    """Praxis's own layers (DotProductAttention of praxis/layers/attentions.py). Unlike MaxText's groups, "BTNH,BSNH->BNTS" gives rows of keys as the
    matmul writes them, with no transpose that GPUs would carry out; the softmax is always one of f32. Keys of groups are repeated before."""
    del blocks
    k, v = repeated_keys(q, k, v)
    weights = causal_softmax(jnp.einsum("bthd,bshd->bhts", q, k).astype(jnp.float32), window).astype(q.dtype)
    return jnp.einsum("bhts,bshd->bthd", weights, v)


def repeated_keys(q, k, v):
    """Keys and values of a group, once for each of its heads."""
    return tuple(jnp.repeat(each, q.shape[2] // each.shape[2], axis=2) for each in (k, v))


def kernel_of(name, shape, *operands, read=1.0):
    """A kernel that reads its operands once, or that part of them, and writes its results once."""
    if read == 1.0:
        return jax.ffi.ffi_call(name, shape)(*operands)
    moved = [math.prod(each.shape) * each.dtype.itemsize for each in (*operands, *jax.tree.leaves(shape))]
    told = {"flops": 0, "bytes_accessed": round(read * sum(moved[:len(operands)]) + sum(moved[len(operands):]))}
    return jax.ffi.ffi_call(name, shape, custom_call_api_version=2, legacy_backend_config=json.dumps({"cost_estimate": told}))(*operands)


CAUSAL = 0.5  # of the scores: Megatron-LM's kernel reads none that the mask hides (megatron/fused_kernels/scaled_upper_triang_masked_softmax.h)


@jax.custom_vjp
def _masked_softmax(scores):
    return _masked_softmax_forward(scores)[0]


def _masked_softmax_forward(scores):
    weights = kernel_of("scaled_upper_triang_masked_softmax", jax.ShapeDtypeStruct(scores.shape, scores.dtype), scores, read=CAUSAL)
    return weights, weights


def _masked_softmax_backward(weights, gradient):
    return (kernel_of("scaled_upper_triang_masked_softmax_backward", jax.ShapeDtypeStruct(weights.shape, weights.dtype), gradient, weights, read=CAUSAL),)


_masked_softmax.defvjp(_masked_softmax_forward, _masked_softmax_backward)


@jax.custom_vjp
def _dropped(weights):
    return _dropped_forward(weights)[0]


def _dropped_forward(weights):
    kept = jax.ShapeDtypeStruct(weights.shape, jnp.uint8)
    return kernel_of("fused_dropout", (jax.ShapeDtypeStruct(weights.shape, weights.dtype), kept), weights)


def _dropped_backward(kept, gradient):
    return (kernel_of("masked_scale", jax.ShapeDtypeStruct(gradient.shape, gradient.dtype), gradient, kept),)


_dropped.defvjp(_dropped_forward, _dropped_backward)


def megatron(q, k, v, window, blocks=None):
    """What Megatron-LM ran before FlashAttention: scores in half precision, a fused kernel for scale, mask and softmax, one of PyTorch's for dropout.
    The mask of that kernel is the causal one of a whole sequence (maxtext_config.py refuses others); keys of groups are repeated before, as Megatron-LM does."""
    del window, blocks
    k, v = repeated_keys(q, k, v)
    return jnp.einsum("bhts,bshd->bthd", _dropped(_masked_softmax(jnp.einsum("bthd,bshd->bhts", q, k))), v)


def te_unfused(q, k, v, window, blocks=None):
    """Transformer Engine without fused attention (NVTE_FUSED_ATTN=0): scores in half precision and its kernel for scale, mask and softmax."""
    del window, blocks
    k, v = repeated_keys(q, k, v)
    return jnp.einsum("bhts,bshd->bthd", _masked_softmax(jnp.einsum("bthd,bshd->bhts", q, k)), v)


@functools.partial(jax.custom_vjp, nondiff_argnums=(3, 4))
def _cudnn(q, k, v, window, causal):
    return _cudnn_forward(q, k, v, window, causal)[0]


def _cudnn_arguments(q, window, causal):
    """What the primitives of jax.nn.dot_product_attention(implementation="cudnn") want besides queries, keys and values."""
    from jax._src.cudnn import fused_attention_stablehlo as fused

    empty = jnp.zeros((0,), q.dtype)
    how = {"scale": q.shape[-1] ** -0.5, "seed": 42, "dropout_rate": 0.0, "variadic_args": (False, False), "mask_type": fused.MaskType.CAUSAL if causal else fused.MaskType.NO_MASK,
           "layout": fused.AttentionLayout.BTNH.value, "sliding_window_length": window}
    return fused, (empty,) * 7, how


def _cudnn_block(q, k, v, causal, window=None):
    fused, empty, how = _cudnn_arguments(q, window, causal)
    return fused._dot_product_attention_fwd_impl(q, k, v, *empty, is_training=True, **how)


def _cudnn_block_backward(q, k, v, out, statistics, gradient, causal, window=None):
    fused, empty, how = _cudnn_arguments(q, window, causal)
    return tuple(fused._dot_product_attention_bwd_impl(q, k, v, *empty, statistics, out, gradient, **how))


def _cudnn_forward(q, k, v, window, causal):
    out, statistics = (checkpoint_name(each, "context") for each in _cudnn_block(q, k, v, causal, window))
    return out, (q, k, v, out, statistics)


def _cudnn_backward(window, causal, kept, gradient):
    return _cudnn_block_backward(*kept, gradient, causal, window)


_cudnn.defvjp(_cudnn_forward, _cudnn_backward)


def cudnn(q, k, v, window, blocks=None, causal=True):
    del blocks
    return _cudnn(q, k, v, window or None, causal)


def _at_most(block, length):
    """The largest block within the sequence that divides it; kernels want multiples of 128."""
    block = min(block, length)
    while length % block:
        block -= 128
    return block


def splash(q, k, v, window, blocks, causal=True):
    from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_kernel as kernel, splash_attention_mask as masks

    length, keys, heads = q.shape[1], k.shape[1], q.shape[2]
    shape = (length, keys)
    mask = masks.LocalMask(shape, (window - 1, 0), 0) if window else masks.CausalMask(shape) if causal else masks.FullMask(shape)
    size = {name: _at_most(value, keys if "kv" in name.split("_")[1] else length) for name, value in blocks.items() if isinstance(value, int)
            and not isinstance(value, bool)}
    fused = blocks.get("fused", False)
    sizes = kernel.BlockSizes(
        block_q=size["block_q"], block_kv=size["block_kv"], block_kv_compute=size["block_kv"], block_q_dkv=size["block_q_dkv"],
        block_kv_dkv=size["block_kv_dkv"], block_kv_dkv_compute=size["block_kv_dkv"], use_fused_bwd_kernel=fused,
        block_q_dq=None if fused else size["block_q_dq"], block_kv_dq=None if fused else size["block_kv_dq"])
    made = kernel.make_splash_mha(masks.MultiHeadMask([mask] * heads), block_sizes=sizes, head_shards=1, q_seq_shards=1,
                                  residual_checkpoint_name="context")
    q, k, v = (jnp.swapaxes(each, 1, 2) for each in (q * q.shape[-1] ** -0.5, k, v))
    v, size_of_value = _padded(v, q.shape[-1])
    return jnp.swapaxes(jax.vmap(made)(q.astype(v.dtype), k, v)[..., :size_of_value], 1, 2)


def _padded(v, size):
    return jnp.pad(v, ((0, 0), (0, 0), (0, 0), (0, size - v.shape[-1]))), v.shape[-1]


def pallas_flash(q, k, v, window, blocks, causal=True):
    """The kernel before splash attention; every head has keys of its own and there are no windows."""
    del window
    from jax.experimental.pallas.ops.tpu import flash_attention as kernel

    block = _at_most(blocks["block_q"], q.shape[1])
    names = ("block_q", "block_k_major", "block_k", "block_q_major_dkv", "block_k_major_dkv", "block_k_dkv", "block_q_dkv", "block_k_major_dq",
             "block_k_dq", "block_q_dq")
    q, k, v = (jnp.swapaxes(each, 1, 2) for each in (q, k, v))
    repeated = [jnp.repeat(each, q.shape[1] // each.shape[1], axis=1) for each in (k, v)]
    out = kernel.flash_attention(q, *repeated, causal=causal, sm_scale=q.shape[-1] ** -0.5,
                                 block_sizes=kernel.BlockSizes(block_b=1, **{name: block for name in names}))
    return checkpoint_name(jnp.swapaxes(out, 1, 2), "context")


KERNELS = {"dot_product": plain, "praxis": praxis, "megatron": megatron, "te_unfused": te_unfused, "cudnn_flash_te": cudnn, "cudnn_flash_jax": cudnn, "flash": splash, "splash": splash, "pallas_flash": pallas_flash}
PLATFORMS = {"cudnn_flash_te": "cuda", "cudnn_flash_jax": "cuda", "flash": "tpu", "splash": "tpu", "pallas_flash": "tpu"}


def balanced(kernel, q, k, v):
    """A device's part of a sequence over the context axis, as the mean of all devices: with balanced loads each has one piece from the front half
    and one from the back half, which see a quarter and three quarters of the keys."""
    half, quarter = q.shape[1] // 2, k.shape[1] // 4
    seen = ((q[:, :half], quarter), (q[:, half:], 3 * quarter))
    return jnp.concatenate([kernel(part, k[:, :keys], v[:, :keys], causal=False) for part, keys in seen], axis=1)


def attend(config, split, q, k, v, kind):
    """`split` puts logical axes on the mesh; a kernel gets whole sequences of keys and values. Tokens see their own chunk where there are chunks."""
    kernel = functools.partial(KERNELS[config.attention], window=kind.window, blocks=dict(config.blocks))
    shape = q.shape
    if kind.chunk and kind.chunk < shape[1]:
        q, k, v = (each.reshape(-1, kind.chunk, *each.shape[2:]) for each in (q, k, v))
    if config.attention == "dot_product":
        kernel = functools.partial(kernel, wide=config.wide_softmax)
    else:
        if k.shape[2] % split.size("heads"):
            k, v = (jnp.repeat(each, q.shape[2] // k.shape[2], axis=2) for each in (k, v))
        own, others = split.spec("batch", "length", "heads", None), split.spec("batch", None, "heads", None)
        if split.size("length") > 1:  # each device projects its own part, and the parts are gathered or go round
            k, v = (split(each, "batch", "length", "heads", None) for each in (k, v))
            if config.ring:
                kernel, others = functools.partial(ring, block=(_cudnn_block, _cudnn_block_backward), axes=split.axes("length"), count=split.size("length")), own
            elif not kind.window:
                kernel = functools.partial(balanced, kernel)
        kernel = jax.shard_map(kernel, mesh=split.mesh, in_specs=(own, others, others), out_specs=own, check_vma=False)
    return kernel(q, k, v).reshape(*shape[:3], v.shape[-1])
