"""Matmuls of projections in bf16, int8 (AQT) or fp8, forward and backward.

- int8: each operand is scaled by its largest magnitude over the contracted dimensions and rounded; gradients are rounded at random [AQT].
- fp8: e4m3 forward, e5m2 for gradients. `fp8` has scales from earlier steps, kept as state; the largest magnitudes of this step are returned as
  gradients of the scales [flax's Fp8DotGeneralOp]. `fp8_full` scales by this step's magnitudes, `fp8_static` by constants [qwix].
"""
import functools

import jax
import jax.numpy as jnp

E4M3, E5M2, F32 = jnp.float8_e4m3fn, jnp.float8_e5m2, jnp.float32
STATEFUL = ("fp8", "te_fp8_delayedscaling", "te_fp8", "nanoo_fp8")


def backward_specs(spec):
    """Subscripts of the two gradients' matmuls: of the result's gradient with w and with x."""
    (x, w), out = spec.split("->")[0].split(","), spec.split("->")[1]
    return f"{out},{w}->{x}", f"{x},{out}->{w}"


def noise_like(value):
    """Numbers within half a unit that look random, made from places alone: a generator's would be as large as the global array."""
    bits = sum(jax.lax.broadcasted_iota(jnp.uint32, value.shape, at) * jnp.uint32(2654435761 + 2 * at) for at in range(value.ndim))
    return (bits >> 8).astype(F32) * 2.0**-24 - 0.5


def integers(value, axes, random=False):
    scale = jnp.max(jnp.abs(value), axis=axes, keepdims=True).astype(F32) / 127.0
    scaled = value.astype(F32) / jnp.where(scale == 0, 1.0, scale)
    return jnp.round(scaled + noise_like(value) if random else scaled).astype(jnp.int8), scale


def matmul_of_integers(spec, a, b, random=False):
    """`random`: `a` is a gradient and rounded at random."""
    (left, right), out = spec.split("->")[0].split(","), spec.split("->")[1]
    summed = set(left) & set(right) - set(out)
    (first, first_scale), (second, second_scale) = (
        integers(value, tuple(i for i, name in enumerate(names) if name in summed), rounding)
        for value, names, rounding in ((a, left, random), (b, right, False)))
    whole = jnp.einsum(spec, first, second, preferred_element_type=jnp.int32).astype(F32)
    return (whole * broadcast(first_scale, left, out) * broadcast(second_scale, right, out)).astype(a.dtype)


def broadcast(scale, names, out):
    """Scales over the dimensions `names`, of which the contracted ones are 1, as the matmul `out` reads them."""
    kept = [name for name in names if name in out]
    order = [kept.index(name) for name in out if name in kept]
    values = scale.reshape([size for size, name in zip(scale.shape, names) if name in out]).transpose(order)
    return jnp.expand_dims(values, [at for at, name in enumerate(out) if name not in names])


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def int8_matmul(spec, x, w):
    return matmul_of_integers(spec, x, w)


def _int8_backward(spec, kept, gradient):
    x, w = kept
    for_x, for_w = backward_specs(spec)
    swapped = for_w.split("->")[0].split(",")
    dx = matmul_of_integers(for_x, gradient, w, True)
    dw = matmul_of_integers(f"{swapped[1]},{swapped[0]}->{for_w.split('->')[1]}", gradient, x, True)
    return dx, dw


int8_matmul.defvjp(lambda spec, x, w: (int8_matmul(spec, x, w), (x, w)), _int8_backward)


def narrow(value, kind, scale):
    most = float(jnp.finfo(kind).max)
    return jnp.clip(value.astype(F32) / scale, -most, most).astype(kind)


def largest(value, kind):
    return jnp.max(jnp.abs(value)).astype(F32) / float(jnp.finfo(kind).max)


def scales_of(mode, x, w, scales):
    if mode == "state":
        return scales[0], scales[1]
    return (largest(x, E4M3), largest(w, E4M3)) if mode == "full" else (F32(1), F32(1))


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def fp8_matmul(spec, mode, x, w, scales):
    return _fp8_forward(spec, mode, x, w, scales)[0]


def _fp8_forward(spec, mode, x, w, scales):
    of_x, of_w = scales_of(mode, x, w, scales)
    narrow_x, narrow_w = narrow(x, E4M3, of_x), narrow(w, E4M3, of_w)
    out = jnp.einsum(spec, narrow_x, narrow_w, preferred_element_type=x.dtype) * (of_x * of_w).astype(x.dtype)
    seen = (largest(x, E4M3), largest(w, E4M3)) if mode == "state" else (of_x, of_w)
    return out, (narrow_x, narrow_w, of_x, of_w, seen, scales)


def _fp8_backward(spec, mode, kept, gradient):
    narrow_x, narrow_w, of_x, of_w, seen, scales = kept
    dtype = gradient.dtype
    of_g = scales[2] if mode == "state" else largest(gradient, E5M2) if mode == "full" else F32(1)
    narrow_g = narrow(gradient, E5M2, of_g)
    for_x, for_w = backward_specs(spec)
    dx = jnp.einsum(for_x, narrow_g, narrow_w, preferred_element_type=dtype) * (of_g * of_w).astype(dtype)
    dw = jnp.einsum(for_w, narrow_x, narrow_g, preferred_element_type=dtype) * (of_g * of_x).astype(dtype)
    return dx, dw, jnp.stack([*seen, largest(gradient, E5M2)]) if mode == "state" else jnp.zeros((3,), F32)


fp8_matmul.defvjp(_fp8_forward, _fp8_backward)


def matmul(quantisation, spec, x, w, scales=None):
    if quantisation == "int8":
        return int8_matmul(spec, x, w)
    if quantisation:
        mode = "state" if quantisation in STATEFUL else "static" if quantisation == "fp8_static" else "full"
        return fp8_matmul(spec, mode, x, w, jnp.ones((3,), F32) if scales is None else scales)
    return jnp.einsum(spec, x, w)
