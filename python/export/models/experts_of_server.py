"""Experts of one tensor rank: tokens sorted by expert and multiplied in groups; each rank has its columns of all experts."""
import jax
import jax.numpy as jnp
from jax import lax

F32, BF16, I32 = jnp.float32, jnp.bfloat16, jnp.int32


def wide(weight):
    """Grouped matmuls take 16 bits; narrower weights are widened on the way."""
    return weight[0].astype(BF16) * weight[1] if isinstance(weight, tuple) else weight


def experts(model, w, x):
    count, top = model["experts"], model["experts_per_token"]
    gate, choice = lax.top_k(jax.nn.softmax((x @ w["router"]).astype(F32)), top)
    order = jnp.argsort(choice.reshape(-1))
    sizes = jnp.bincount(choice.reshape(-1), length=count).astype(I32)
    rows = jnp.take(x, order // top, axis=0)
    open_, up = jnp.split(lax.ragged_dot(rows, wide(w["experts_gate_up"]), sizes), 2, axis=-1)
    out = lax.ragged_dot(jax.nn.silu(open_) * up, wide(w["experts_down"]), sizes)
    out = jnp.zeros_like(out).at[order].set(out).reshape(-1, top, x.shape[1])
    summed = jnp.einsum("tkd,tk->td", out, (gate / gate.sum(-1, keepdims=True)).astype(BF16))
    if "shared_gate_up" not in w:
        return summed
    first, second = jnp.split(x @ wide(w["shared_gate_up"]), 2, axis=-1)
    return summed + (jax.nn.silu(first) * second) @ wide(w["shared_down"])


def expert_weights(model, arrays):
    width, inner, count = model["width"], model["expert_mlp"], model["experts"]
    w = {"router": arrays.whole(width, count), "experts_gate_up": arrays.weight(2, count, width, 2 * inner),
         "experts_down": arrays.weight(1, count, inner, width)}
    if model["shared_mlp"]:
        w |= {"shared_gate_up": arrays.weight(1, width, 2 * model["shared_mlp"]), "shared_down": arrays.weight(0, model["shared_mlp"], width)}
    return w
