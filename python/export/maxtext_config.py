"""From MaxText's YAML to the dimensions, policies and mesh that models/maxtext.py builds.

Keys and defaults are those of MaxText's base.yml and pyconfig; `model_name` brings a model's dimensions (maxtext_models.py). Keys that change
neither the program of a step nor its schedule are ignored; those that would change it in a way that is not modelled are refused.
"""
import dataclasses
import math
import pathlib

import yaml

from maxtext_models import MODELS
from models.mesh_rules import AXES, RULES
from models.quantised import STATEFUL
from models.remat import POLICIES

# base.yml (MaxText, 2025)
DEFAULTS = {
    "base_emb_dim": 2048, "base_num_query_heads": 16, "base_num_kv_heads": 16, "base_mlp_dim": 7168, "base_num_decoder_layers": 16, "head_dim": 128,
    "mlp_activations": ["silu", "linear"], "vocab_size": 32000, "logits_via_embedding": False, "decoder_block": "llama2", "num_experts": 1,
    "num_experts_per_tok": 1, "base_moe_mlp_dim": 7168, "shared_experts": 0, "first_num_dense_layers": 0, "interleave_moe_layer_step": 1,
    "capacity_factor": -1.0, "sparse_matmul": True, "megablox": True, "float32_logits": False,
    "per_device_batch_size": 12.0, "max_target_length": 2048, "gradient_accumulation_steps": 1,
    "attention": "autoselected", "remat_policy": "full", "scan_layers": True, "quantization": "", "opt_type": "adamw", "weight_dtype": "float32",
    "mu_dtype": "", "logits_dot_in_fp32": False, "use_iota_embed": False, "num_vocab_tiling": 1, "fused_qkv": False, "sliding_window_size": 0,
    "chunk_attn_window_size": 0, "rope_max_timescale": 10000, "gradient_clipping_threshold": 1.0, "global_parameter_scale": 1,
    "sa_use_fused_bwd_kernel": False, "use_qk_norm": False, "attention_type": "global", "q_lora_rank": 0, "kv_lora_rank": 512,
    "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "use_post_attn_norm": False, "trainable_position_size": -1,
    "compile_topology_num_slices": 1, "context_parallel_strategy": "all_gather", "shard_optimizer_over_data": False,
    # no keys of MaxText: gradients divided like the optimiser's state (ZeRO 2); the optimiser's own fp32 copies of narrower weights, and fp32 sums
    # whether tensor devices divide what lies between the matmuls, too
    "shard_gradients_over_data": False, "main_weights": False, "sequence_parallel": True,
}
BLOCKS = ("sa_block_q", "sa_block_kv", "sa_block_q_dkv", "sa_block_kv_dkv", "sa_block_q_dq", "sa_block_kv_dq")
TENSORS = ("decoder_layer_input", "context", "mlpwi", "mlpwi_0", "mlpwi_1", "mlpwo", "query_proj", "key_proj", "value_proj", "qkv_proj", "out_proj")
# blocks with windows: the cycle of layers, 1 where the window counts
WINDOWED = {"gemma2": (1, 0), "gemma3": (1, 1, 1, 1, 1, 0), "gpt_oss": (1, 0), "mistral": (1,), "mixtral": (1,)}
CHUNKED = {"llama4": (1, 1, 1, 0)}
STRATEGIES = ("all_gather", "ring")  # of the context axis


class Unsupported(ValueError):
    """A configuration that is wrong, or that is not modelled."""


@dataclasses.dataclass(frozen=True)
class Kind:
    """What layers of one configuration differ in."""

    experts: bool = False
    window: int = 0
    chunk: int = 0


@dataclasses.dataclass(frozen=True)
class Latent:
    rank: int
    query_rank: int
    nope: int
    rope: int


@dataclasses.dataclass(frozen=True)
class Config:
    width: int
    heads: int
    kv_heads: int
    head: int
    value_head: int
    mlp: int
    vocabulary: int
    activations: tuple
    groups: tuple  # (count, cycle of kinds)
    experts: int
    experts_per_token: int
    expert_mlp: int
    expert_tiles: tuple  # of wi and wo: blocks (rows, contraction, columns) forward, for the rows' gradient and for the weights'
    shared_experts: int
    capacity_factor: float
    latent: Latent | None
    rotary: bool
    rope: float
    positions: int
    parallel: bool
    biases: bool
    head_norms: bool
    after_norms: bool
    tied: bool
    fused_qkv: bool
    sequence: int
    batch: float
    accumulate: int
    attention: str
    ring: bool  # how devices of the context axis come by keys and values
    blocks: tuple
    wide_softmax: bool
    remat_policy: str
    kept: tuple
    offloaded: tuple
    scan: bool
    quantisation: str
    stateful_scales: bool
    optimizer: str
    clip: float
    weight_dtype: str
    mu_dtype: str
    logits_f32: bool
    iota_embedding: bool
    vocabulary_tiles: int
    shard_optimizer: bool
    shard_gradients: bool
    main_weights: bool
    whole: tuple  # logical axes that no device divides


def settings(path, overrides):
    """All keys: defaults, the model's, the file's with those that it is based on, and `overrides`."""
    given = {}
    files, seen = [pathlib.Path(path)], set()
    while files:
        file = files.pop()
        if file in seen or not file.is_file():  # base.yml itself is in DEFAULTS
            continue
        seen.add(file)
        read = yaml.safe_load(file.read_text()) or {}
        if not isinstance(read, dict):
            raise Unsupported(f"{file} is no MaxText configuration: it has no keys")
        given = {**read, **given}
        if read.get("base_config"):
            files.append(file.parent / read["base_config"])
    given |= overrides
    name = given.get("model_name", "default")
    if name != "default" and name not in MODELS:
        raise Unsupported(f"model_name `{name}` is unknown; known are {', '.join(MODELS)}, or give the dimensions themselves")
    return {**DEFAULTS, **MODELS.get(name, {}), **given}


def scaled(keys):
    """`global_parameter_scale` 2^n: n = 3b + r; the width doubles first, then heads and MLP, then layers."""
    scale = keys["global_parameter_scale"]
    exponent = int(math.log2(scale))
    if 2**exponent != scale:
        raise Unsupported(f"global_parameter_scale {scale} is no power of two")
    base, rest = divmod(exponent, 3)
    width, inner, layers = base + (rest > 1), base + (rest > 0), base
    return {"base_emb_dim": width, "base_num_query_heads": inner, "base_num_kv_heads": inner, "base_mlp_dim": inner, "base_moe_mlp_dim": inner,
            "base_num_decoder_layers": layers}


def layer_groups(keys, layers):
    block, window, chunk = keys["decoder_block"], int(keys["sliding_window_size"] or 0), int(keys["chunk_attn_window_size"] or 0)
    experts, dense = int(keys["num_experts"]) > 1, int(keys["first_num_dense_layers"])
    windows = WINDOWED.get(block, (0,)) if window else (0,)
    chunks = CHUNKED.get(block, (0,)) if chunk else (0,)
    every = int(keys["interleave_moe_layer_step"]) if experts else 1
    length = math.lcm(len(windows), len(chunks), every)
    cycle = tuple(Kind(experts and (at + 1) % every == 0, window * windows[at % len(windows)], chunk * chunks[at % len(chunks)])
                  for at in range(length))
    groups = [(dense, (Kind(),))] if dense else []
    whole, rest = divmod(layers - dense, length)
    return tuple(groups + ([(whole, cycle)] if whole else []) + ([(1, cycle[:rest])] if rest else []))


def attention_of(keys):
    name = keys["attention"]
    if name == "autoselected":
        return "cudnn_flash_te" if str(keys.get("hardware", "")).startswith("gpu") else "flash"
    if name not in ("dot_product", "praxis", "megatron", "te_unfused", "cudnn_flash_te", "cudnn_flash_jax", "flash", "pallas_flash"):
        raise Unsupported(f"attention `{name}` is not modelled; dot_product, praxis, megatron, te_unfused, flash (splash), pallas_flash, cudnn_flash_te and cudnn_flash_jax are")
    if name in ("megatron", "te_unfused") and int(keys["sliding_window_size"] or 0) and keys["decoder_block"] in WINDOWED:
        raise Unsupported(f"attention `{name}` has no windows (sliding_window_size): its kernel masks whole sequences; dot_product has them")
    return name


def blocks_of(keys):
    first = int(keys.get("sa_block_q", 512))
    sizes = {name.removeprefix("sa_"): int(keys.get(name) or first) for name in BLOCKS}
    return tuple({**sizes, "fused": bool(keys["sa_use_fused_bwd_kernel"])}.items())


# What the blocks of megablox's kernels cover: rows, the contraction and columns; forward, for the rows' gradient and for the weights'
TILED = {"wi": (("fwd", "embed", "mlp"), ("dlhs", "mlp", "embed"), ("drhs", "embed", "mlp")),
         "wo": (("fwd", "mlp", "embed"), ("dlhs", "embed", "mlp"), ("drhs", "mlp", "embed"))}


def expert_tiles(keys):
    """base.yml of 2026 has a block for each matmul and dimension; before there were three for all (tile_batch_seq and two more)."""
    if not str(keys.get("hardware", "tpu")).startswith("tpu") or not keys["megablox"]:
        return ((), (), ()), ((), (), ())
    rows = int(keys.get("tile_batch_seq") or 512)
    sums = int(keys.get("tile_activation_dim") or keys.get("tile_embed_dim") or 1024)
    columns = int(keys.get("tile_weight_dim") or keys.get("tile_mlp_dim") or 1024)

    def block(matmul, part, contraction, column):
        own = [keys.get(f"{matmul}_tile_{part}_{name}") for name in ("batch_seq", f"{contraction}_dim", f"{column}_dim")]
        return tuple(int(size or usual) for size, usual in zip(own, (rows, sums, columns)))

    return tuple(tuple(block(matmul, *words) for words in parts) for matmul, parts in TILED.items())


def configuration(keys):
    block, grow = keys["decoder_block"], scaled(keys)
    whole = {name: int(keys[name]) * 2 ** grow.get(name, 0) for name in grow}
    policy = keys["remat_policy"]
    if policy not in POLICIES:
        raise Unsupported(f"remat_policy `{policy}` is not modelled; known are {', '.join(POLICIES)}")
    latent = keys["attention_type"] == "mla"
    quantisation = str(keys["quantization"] or "")
    if quantisation and not quantisation.startswith(("int8", "fp8", "te_fp8", "nanoo_fp8")):
        raise Unsupported(f"quantization `{quantisation}` is not modelled; int8, fp8, fp8_full, te_fp8_delayedscaling and nanoo_fp8 are")
    where = {name: keys.get(name, "device" if name == "decoder_layer_input" else "remat") for name in TENSORS}
    head = int(keys["head_dim"])
    return Config(
        width=whole["base_emb_dim"], heads=whole["base_num_query_heads"], kv_heads=whole["base_num_kv_heads"], head=head,
        value_head=int(keys["v_head_dim"]) if latent else head, mlp=whole["base_mlp_dim"], vocabulary=int(keys["vocab_size"]),
        activations=tuple(keys["mlp_activations"]), groups=layer_groups(keys, whole["base_num_decoder_layers"]), experts=int(keys["num_experts"]),
        experts_per_token=int(keys["num_experts_per_tok"]), expert_mlp=whole["base_moe_mlp_dim"], shared_experts=int(keys["shared_experts"]),
        expert_tiles=expert_tiles(keys), capacity_factor=float(keys["capacity_factor"]) if float(keys["capacity_factor"]) > 0 else -1.0,
        latent=Latent(int(keys["kv_lora_rank"]), int(keys["q_lora_rank"]), int(keys["qk_nope_head_dim"]), int(keys["qk_rope_head_dim"])) if latent else None,
        rotary=block != "gpt3", rope=float(keys["rope_max_timescale"]), positions=max(0, int(keys["trainable_position_size"])),
        parallel=block == "default", biases=block == "gpt3", head_norms=bool(keys["use_qk_norm"]) or block in ("gemma3", "qwen3", "qwen3_moe"),
        after_norms=block in ("gemma2", "gemma3"), tied=bool(keys["logits_via_embedding"]), fused_qkv=bool(keys["fused_qkv"]),
        sequence=int(keys["max_target_length"]), batch=float(keys["per_device_batch_size"]), accumulate=int(keys["gradient_accumulation_steps"]),
        attention=attention_of(keys), ring=goes_round(keys), blocks=blocks_of(keys), wide_softmax=bool(keys["float32_logits"]), remat_policy=policy,
        kept=tuple(name for name, place in where.items() if place == "device"), offloaded=tuple(name for name, place in where.items() if place == "offload"),
        scan=bool(keys["scan_layers"]), quantisation=quantisation, stateful_scales=quantisation in STATEFUL, optimizer=keys["opt_type"],
        clip=float(keys["gradient_clipping_threshold"]), weight_dtype=keys["weight_dtype"], mu_dtype=keys["mu_dtype"] or keys["weight_dtype"],
        logits_f32=bool(keys["logits_dot_in_fp32"]), iota_embedding=bool(keys["use_iota_embed"]), vocabulary_tiles=int(keys["num_vocab_tiling"]),
        shard_optimizer=bool(keys["shard_optimizer_over_data"]), shard_gradients=bool(keys["shard_gradients_over_data"]),
        main_weights=bool(keys["main_weights"]), whole=() if keys["sequence_parallel"] else ("embed_of_activation",))


def check_context(keys):
    """What a sequence that devices divide asks of attention."""
    attention = attention_of(keys)
    if attention in ("praxis", "megatron", "te_unfused"):
        raise Unsupported(f"attention `{attention}` takes whole sequences, not parts of them ({', '.join(RULES['length'])}); dot_product divides them")
    if goes_round(keys) and not rings(keys):
        raise Unsupported("context_parallel_strategy ring needs cuDNN's attention (GPUs) over whole sequences and heads of one size: no windows, chunks or MLA; all_gather takes these")


def goes_round(keys):
    strategy = keys["context_parallel_strategy"]
    if strategy not in STRATEGIES:
        raise Unsupported(f"context_parallel_strategy `{strategy}` is not modelled; {' and '.join(STRATEGIES)} are")
    return strategy == "ring"


def rings(keys):
    """Whether ring attention has a kernel for the model (Transformer Engine's conditions; it refuses windows and sizes that differ)."""
    windows = any(kind.window or kind.chunk for _, cycle in layer_groups(keys, int(keys["base_num_decoder_layers"])) for kind in cycle)
    return attention_of(keys).startswith("cudnn") and not windows and keys["attention_type"] != "mla"


def mesh_parts(keys, devices):
    """Devices of each axis between slices and within one; an axis of -1 takes what is left, data between slices and fsdp within by default."""
    parts = {}
    for where in ("dcn", "ici"):
        sizes = {name: int(keys.get(f"{where}_{name}_parallelism", 1)) for name in AXES}
        parts[where] = sizes
    if "dcn_data_parallelism" not in keys:
        parts["dcn"]["data"] = -1
    if not any(f"ici_{name}_parallelism" in keys for name in AXES):
        parts["ici"]["fsdp"] = -1
    known = {where: math.prod(size for size in sizes.values() if size > 0) for where, sizes in parts.items()}
    free = {where: [name for name, size in sizes.items() if size == -1] for where, sizes in parts.items()}
    slices = int(keys["compile_topology_num_slices"]) if free["ici"] and free["dcn"] else devices // known["ici"] if free["dcn"] else known["dcn"]
    totals = {"dcn": slices, "ici": devices // slices if slices else 0}
    for where, names in free.items():
        if len(names) > 1:
            raise Unsupported(f"two axes of {where} are -1: {', '.join(names)}")
        if names:
            parts[where][names[0]] = totals[where] // known[where]
    if math.prod(parts["dcn"].values()) * math.prod(parts["ici"].values()) != devices:
        raise Unsupported(f"the mesh has {math.prod(parts['dcn'].values())} x {math.prod(parts['ici'].values())} devices (dcn_* x ici_*), not {devices}")
    if any(parts[where][name] > 1 for where in parts for name in RULES["length"]):
        check_context(keys)
    if parts["dcn"]["stage"] * parts["ici"]["stage"] > 1:
        raise Unsupported("pipeline stages (stage) are not modelled; without --target-devices MaxText itself makes the program")
    return parts["dcn"], parts["ici"]
