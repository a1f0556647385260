"""Layers of MaxText's decoders: norms, attention, MLPs, and what the blocks of each model family make of them."""
import jax
import jax.numpy as jnp
from jax.ad_checkpoint import checkpoint_name

from models import maxtext_experts, quantised
from models.attention_kernels import attend
from models.residual_kernels import dropped_and_added, layer_norm

F32, BF16 = jnp.float32, jnp.bfloat16
RESIDUAL = ("batch", "length", "embed_of_activation")
ENDS = ("out", "wo")  # of a block
ACTIVATIONS = {"silu": jax.nn.silu, "gelu": jax.nn.gelu, "relu": jax.nn.relu, "linear": lambda x: x, "sigmoid": jax.nn.sigmoid}


class Layers:
    """The functions of a layer for one configuration on one mesh; `weights` are those of the layer."""

    def __init__(self, config, split):
        self.config, self.split = config, split
        self.fused = config.attention == "megatron"  # with the kernels of the time: dropout beside the residual sum, apex's layer norm

    def matmul(self, spec, x, weights, name, saved=None):
        w = weights[name].astype(BF16)
        out = quantised.matmul(self.config.quantisation, spec, x, w, weights.get(f"{name}/scales"))
        if f"{name}/bias" in weights and not (self.fused and name in ENDS):
            out = out + weights[f"{name}/bias"].astype(BF16)
        return checkpoint_name(out, saved) if saved else out

    @jax.named_scope("norm")
    def norm(self, x, weights, name):
        if self.fused and f"{name}/bias" in weights:
            scale, bias = (weights[each].astype(BF16) for each in (name, f"{name}/bias"))
            return self.split(layer_norm(self.split, x, scale, bias, RESIDUAL), *RESIDUAL)
        wide = x.astype(F32)
        if f"{name}/bias" in weights:
            wide = wide - jnp.mean(wide, axis=-1, keepdims=True)
        wide = wide * jax.lax.rsqrt(jnp.mean(jnp.square(wide), axis=-1, keepdims=True) + 1e-5)
        out = wide.astype(BF16) * weights[name].astype(BF16)
        if f"{name}/bias" in weights:
            out = out + weights[f"{name}/bias"].astype(BF16)
        return self.split(out, *RESIDUAL)

    @jax.named_scope("rotate")
    def rotate(self, x):
        half = x.shape[-1] // 2
        timescale = self.config.rope ** (2 * jnp.arange(half) / x.shape[-1])
        angle = jnp.arange(x.shape[1])[None, :, None, None].astype(F32) / timescale
        sine, cosine = jnp.sin(angle).astype(BF16), jnp.cos(angle).astype(BF16)
        first, second = jnp.split(x, 2, axis=-1)
        return jnp.concatenate((first * cosine - second * sine, second * cosine + first * sine), axis=-1)

    def projections(self, x, weights):
        if self.config.fused_qkv:
            whole = self.matmul("btw,wchd->btchd", x, weights, "qkv", "qkv_proj")
            return [whole[:, :, at] for at in range(3)]
        names = (("query", "query_proj"), ("key", "key_proj"), ("value", "value_proj"))
        return [self.matmul("btw,whd->bthd", x, weights, name) if self.config.rotary else
                self.matmul("btw,whd->bthd", x, weights, name, saved) for name, saved in names]

    @jax.named_scope("attention")
    def attention(self, x, weights, kind):
        if self.config.latent:
            q, k, v = self.latent_projections(x, weights)
        else:
            q, k, v = self.projections(x, weights)
            if "query_norm" in weights:
                q, k = self.head_norm(q, weights["query_norm"]), self.head_norm(k, weights["key_norm"])
            if self.config.rotary:
                q, k = self.rotate(q), self.rotate(k)
            if self.config.rotary and not self.config.fused_qkv:
                q, k, v = (checkpoint_name(each, f"{name}_proj") for each, name in ((q, "query"), (k, "key"), (v, "value")))
        mixed = attend(self.config, self.split, q, k, v, kind)
        out = self.matmul("bthd,hdw->btw", self.split(mixed, "batch", "length", "heads", None), weights, "out", "out_proj")
        return self.split(out, *RESIDUAL)

    def head_norm(self, x, scale):
        wide = x.astype(F32)
        return (wide * jax.lax.rsqrt(jnp.mean(jnp.square(wide), axis=-1, keepdims=True) + 1e-6)).astype(BF16) * scale.astype(BF16)

    def latent_projections(self, x, weights):
        """Multi-head latent attention [DeepSeek-V2]: keys and values from one narrow vector; a part of each key is shared by the heads."""
        plain, rotated = self.config.latent.nope, self.config.latent.rope
        if self.config.latent.query_rank:
            low = self.head_norm(self.matmul("btw,wr->btr", x, weights, "query_down"), weights["query_down_norm"])
            q = self.matmul("btr,rhd->bthd", low, weights, "query_up", "query_proj")
        else:
            q = self.matmul("btw,whd->bthd", x, weights, "query", "query_proj")
        down = self.matmul("btw,wr->btr", x, weights, "latent_down")
        low, shared = down[..., :-rotated], self.rotate(down[..., None, -rotated:])
        up = self.matmul("btr,rhd->bthd", self.head_norm(low, weights["latent_norm"]), weights, "latent_up", "value_proj")
        heads = jnp.broadcast_to(shared, (*up.shape[:3], rotated))
        k = checkpoint_name(jnp.concatenate((up[..., :plain], heads), axis=-1), "key_proj")
        q = jnp.concatenate((q[..., :plain], self.rotate(q[..., plain:])), axis=-1)
        return q, k, up[..., plain:]

    @jax.named_scope("mlp")
    def mlp(self, x, weights, prefix=""):
        kinds = self.config.activations
        parts = [self.matmul("btw,wf->btf", x, weights, f"{prefix}wi_{at}", f"mlpwi_{at}" if len(kinds) > 1 else "mlpwi") for at in range(len(kinds))]
        hidden = ACTIVATIONS[kinds[0]](parts[0])
        for kind, part in zip(kinds[1:], parts[1:]):
            hidden = hidden * ACTIVATIONS[kind](part)
        out = self.matmul("btf,fw->btw", self.split(hidden, "batch", "length", "mlp"), weights, f"{prefix}wo", "mlpwo")
        return self.split(out, *RESIDUAL)

    def feed_forward(self, x, weights):
        if "gate" not in weights:
            return self.mlp(x, weights)
        routed = maxtext_experts.mixture(self.config, self.split, x, weights)
        return routed + self.mlp(x, weights, "shared_") if "shared_wo" in weights else routed

    def joined(self, x, out, weights, name):
        """The residual stream behind a block whose last matmul is `name`."""
        if not self.fused:
            return x + out
        bias = weights.get(f"{name}/bias", jnp.zeros(out.shape[-1:]))
        return dropped_and_added(self.split, out, bias.astype(BF16), x, RESIDUAL)

    def layer(self, x, weights, kind):
        x = checkpoint_name(self.split(x, *RESIDUAL), "decoder_layer_input")
        h = self.norm(x, weights, "norm1")
        if self.config.parallel:
            return self.split(x + self.attention(h, weights, kind) + self.mlp(h, weights), *RESIDUAL)
        mixed = self.attention(h, weights, kind)
        x = self.joined(x, self.norm(mixed, weights, "norm1_after") if "norm1_after" in weights else mixed, weights, "out")
        out = self.feed_forward(self.norm(x, weights, "norm2"), weights)
        return self.split(self.joined(x, self.norm(out, weights, "norm2_after") if "norm2_after" in weights else out, weights, "wo"), *RESIDUAL)
