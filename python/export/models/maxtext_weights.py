"""Shapes and logical axes of MaxText's weights: name -> (shape, axes), stacked over the layers of a loop."""


def attention(config):
    width, heads, size = config.width, config.heads, config.head
    out = {"out": ((heads, config.value_head, width), ("heads", None, "embed"))}
    if config.latent:
        part, value = config.latent.nope + config.latent.rope, config.latent.nope + config.value_head
        out |= {"latent_down": ((width, config.latent.rank + config.latent.rope), ("embed", None)), "latent_norm": ((config.latent.rank,), (None,)),
                "latent_up": ((config.latent.rank, heads, value), ("embed", "heads", None))}
        if config.latent.query_rank:
            out |= {"query_down": ((width, config.latent.query_rank), ("embed", None)), "query_down_norm": ((config.latent.query_rank,), (None,)),
                    "query_up": ((config.latent.query_rank, heads, part), ("embed", "heads", None))}
        else:
            out["query"] = ((width, heads, part), ("embed", "heads", None))
    elif config.fused_qkv:
        out["qkv"] = ((width, 3, heads, size), ("embed", None, "heads", None))
    else:
        out |= {name: ((width, count, size), ("embed", "heads", None)) for name, count in (("query", heads), ("key", config.kv_heads),
                                                                                           ("value", config.kv_heads))}
    if config.head_norms:
        out |= {"query_norm": ((size,), (None,)), "key_norm": ((size,), (None,))}
    return out


def mlp(config, inner, prefix=""):
    out = {f"{prefix}wi_{at}": ((config.width, inner), ("embed", "mlp")) for at in range(len(config.activations))}
    return out | {f"{prefix}wo": ((inner, config.width), ("mlp", "embed"))}


def experts(config):
    count, width, inner = config.experts, config.width, config.expert_mlp
    out = {"gate": ((width, count), ("embed", None)), "expert_wo": ((count, inner, width), ("expert", "mlp", "embed_of_expert"))}
    out |= {f"expert_wi_{at}": ((count, width, inner), ("expert", "embed_of_expert", "mlp")) for at in range(2)}
    return out | (mlp(config, config.shared_experts * inner, "shared_") if config.shared_experts else {})


def with_biases(config, weights):
    """GPT-3's projections and norms add vectors; fp8 keeps three scales for each matmul."""
    out = dict(weights)
    for name, (shape, axes) in weights.items():
        norm, matmul = name.startswith("norm"), len(shape) > 1 and not name.startswith(("expert", "gate"))
        if config.biases and (norm or matmul):
            inputs = 0 if norm else 2 if name == "out" else 1
            out[f"{name}/bias"] = (shape[inputs:], axes[inputs:])
        if config.stateful_scales and matmul:
            out[f"{name}/scales"] = ((3,), (None,))
    return out


def layer(config, kind):
    norms = ("norm1",) if config.parallel else ("norm1", "norm2", *(("norm1_after", "norm2_after") if config.after_norms else ()))
    inner = experts(config) if kind.experts else mlp(config, config.mlp)
    return with_biases(config, {name: ((config.width,), (None,)) for name in norms} | attention(config) | inner)


def stacked(count, weights):
    return {name: ((count, *shape), (None, *axes)) for name, (shape, axes) in weights.items()}


def shapes(config):
    groups = []
    for count, cycle in config.groups:
        one = [layer(config, kind) for kind in cycle]
        groups.append([stacked(count, each) for each in one] if config.scan else [one] * count)
    whole = with_biases(config, {"norm": ((config.width,), (None,))}) | {"embedding": ((config.vocabulary, config.width), ("vocab", "embed"))}
    if config.positions:
        whole["positions"] = ((config.positions, config.width), (None, "embed"))
    if not config.tied:
        whole["logits"] = ((config.width, config.vocabulary), ("embed", "vocab"))
    return {**whole, "layers": groups}
