"""Attention with one latent vector a token in place of keys and values (DeepSeek-V3, Kimi K2): `rank` elements, which matmuls expand to keys and
values of each head, and `rope` elements that all heads share.

Prompts expand them; values are padded to the size of keys, for which the fused kernel is made, as vLLM's MLA does (v1/attention/backends/mla/common.py).
Decodes absorb the expansion into queries and outputs: one head of keys, whose first `rank` elements are the values, so pages are read as both.
Every tensor rank has the whole cache and its own heads.
"""
import jax.numpy as jnp

from models.llama import norm

BF16 = jnp.bfloat16


def weights(model, arrays):
    sizes, heads, width = model["latent"], model["heads"], model["width"]
    rank, rope, nope, value, query_rank = (sizes[key] for key in ("rank", "rope", "nope", "value", "query_rank"))
    down = {"q_norm": arrays.whole(query_rank)} if query_rank else {}  # else queries come from the token at once
    return down | {"latent": arrays.weight(None, width, query_rank + rank + rope), "kv_norm": arrays.whole(rank),
                   "queries": arrays.weight(1, query_rank or width, heads * (nope + rope)), "keys_up": arrays.split(0, heads, nope, rank),
                   "values_up": arrays.split(0, heads, rank, value), "out": arrays.weight(0, heads * value, width)}


def cache(model, arrays, pages, page, dtype):
    return {"latent": arrays.whole(pages, page, 1, model["latent"]["rank"] + model["latent"]["rope"], dtype=dtype)}


def attention(model, shape, w, x, kept, where, kernels):
    """`kernels`: matmul, rotated, fused and written of models/serving.py."""
    sizes, heads, prompt = model["latent"], shape.heads, shape.prompts * shape.prompt
    rank, nope, value, query_rank = (sizes[key] for key in ("rank", "nope", "value", "query_rank"))
    scale = (nope + sizes["rope"]) ** -0.5
    low, latent, shared = jnp.split(kernels.matmul(x, w["latent"]), [query_rank, query_rank + rank], axis=1)
    queries = kernels.matmul(norm(low, w["q_norm"]) if query_rank else x, w["queries"]).reshape(x.shape[0], heads, -1)
    own, rotated = queries[..., :nope], kernels.rotated(queries[..., nope:], where["position"])
    latent, shared = norm(latent, w["kv_norm"]), kernels.rotated(shared[:, None], where["position"])
    kept = {"latent": kernels.written(kept["latent"], where["slot"], jnp.concatenate([latent[:, None], shared], -1))}
    parts = []
    if prompt:
        keys = jnp.einsum("tr,hnr->thn", latent[:prompt], w["keys_up"])
        keys = jnp.concatenate([keys, jnp.broadcast_to(shared[:prompt], (prompt, heads, shared.shape[-1]))], -1)
        values = jnp.einsum("tr,hrv->thv", latent[:prompt], w["values_up"])
        values = jnp.pad(values, ((0, 0), (0, 0), (0, keys.shape[-1] - value)))
        asked = jnp.concatenate([own, rotated], -1)[:prompt]
        out = kernels.fused(*(each.reshape(shape.prompts, shape.prompt, heads, -1) for each in (asked, keys, values)), scale=scale)
        parts.append(out[..., :value].reshape(prompt, heads * value))
    if shape.batch:
        absorbed = jnp.concatenate([jnp.einsum("bhn,hnr->bhr", own[prompt:], w["keys_up"]), rotated[prompt:]], -1)
        pages = kept["latent"]
        out = kernels.fused(absorbed[:, None], pages, pages, where["length"], where["table"], scale=scale)[:, 0, :, :rank]
        parts.append(jnp.einsum("bhr,hrv->bhv", out, w["values_up"]).reshape(shape.batch, heads * value))
    return kernels.matmul(jnp.concatenate(parts), w["out"]), kept
