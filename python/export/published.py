"""Rows of tables of published training throughput (data/published/rows.csv): the MaxText configuration, device and system that each describes."""
import math
import re

MODEL = re.compile(r"\[([^\]]*)\]")
OFFLOAD = re.compile(r"offload to host ([\w,]+)")
SAVED = re.compile(r"saved(?: on device)? ([\w,]+)")
NAMES = {"query": "query_proj", "key": "key_proj", "value": "value_proj", "qkv": "qkv_proj", "query_proj": "query_proj", "key_proj": "key_proj",
         "value_proj": "value_proj", "out_proj": "out_proj", "mlpwo": "mlpwo", "decoder_layer_input": "decoder_layer_input", "context": "context",
         "mlpwi": "mlpwi", "mlpwi_0": "mlpwi_0", "mlpwi_1": "mlpwi_1"}
MAXTEXT = ("none", "full", "minimal", "minimal_flash", "minimal_with_context", "save_dot_with_context_except_mlp", "save_dot_except_mlpwi",
           "save_dot_except_mlp", "save_qkv_proj", "save_out_proj", "qkv_proj_offloaded", "minimal_offloaded")
# What other frameworks call MaxText's policies: Praxis's checkpoint policies, AXLearn's. A fused attention kernel is no dot, so both of Praxis's
# compute it again; no other dot of a layer has batch dimensions.
POLICIES = {"SAVE_DOT_ONLY": "minimal", "SAVE_DOT_WITH_NO_BATCH_DIM": "minimal", "none": "none", "full": "full"}
# Models whose scripts in tpu-recipes do not set use_iota_embed
GATHERED = ("llama4", "gpt-oss", "gptoss", "qwen3", "mixtral-8x22b")


def dimensions(text):
    """`L80 D8192 H64 KV8 hd128 F28672 V32000 swiglu` as MaxText's keys."""
    inside = MODEL.search(text).group(1)
    words = inside.replace(",", " ").replace(";", " ").split()
    numbers = {name: int(value) for name, value in (re.fullmatch(r"([A-Za-z]+)(\d+)", word).groups() for word in words
                                                     if re.fullmatch(r"[A-Za-z]+\d+", word))}
    kinds = {"swiglu": ["silu", "linear"], "geglu": ["gelu", "linear"], "gelu": ["gelu"], "relu": ["relu"]}
    activation = next(kinds[word] for word in words if word in kinds)
    keys = {"base_num_decoder_layers": numbers["L"], "base_emb_dim": numbers["D"], "base_num_query_heads": numbers["H"],
            "base_num_kv_heads": numbers.get("KV", numbers["H"]), "head_dim": numbers.get("hd", 128),
            "base_mlp_dim": numbers.get("F", numbers.get("moeF", 0)), "vocab_size": numbers["V"], "mlp_activations": activation,
            "logits_via_embedding": "tied" in words, "decoder_block": block(text, words)}
    if "biases" in words or keys["decoder_block"] == "gpt3":
        positions = re.search(r"learned positions (\d+)", inside)
        keys["trainable_position_size"] = int(positions.group(1)) if positions else 2048
    if "E" in numbers:
        keys |= {"num_experts": numbers["E"], "num_experts_per_tok": numbers["top"], "base_moe_mlp_dim": numbers["moeF"],
                 "shared_experts": numbers.get("shared", 0)}
    if "every 2nd layer MoE" in inside:
        keys["interleave_moe_layer_step"] = 2
    chunk, window, dense = (re.search(pattern, inside) for pattern in (r"chunked attention (\d+)", r"window (\d+)", r"\((\d+) dense\)"))
    keys |= {"chunk_attn_window_size": int(chunk.group(1))} if chunk else {}
    keys |= {"sliding_window_size": int(window.group(1))} if window else {}
    keys |= {"first_num_dense_layers": int(dense.group(1))} if dense else {}
    if "MLA" in words:
        latent = {name: int(value) for name, value in re.findall(r"(kv_lora|q_lora|nope|rope|v)(\d+)", inside)}
        keys |= {"attention_type": "mla", "kv_lora_rank": latent["kv_lora"], "q_lora_rank": latent.get("q_lora", 0),
                 "qk_nope_head_dim": latent["nope"], "qk_rope_head_dim": latent["rope"], "v_head_dim": latent["v"], "base_num_kv_heads": numbers["H"]}
    return keys


def block(text, words):
    name = text.lower()
    if "parallel" in words:
        return "default"
    if name.startswith("gpt"):
        return "gpt3"
    return next((known for known in ("gemma3", "gemma2", "gemma", "llama4", "mixtral", "deepseek", "qwen3") if name.startswith(known)), "llama2")


def rematerialisation(text):
    kept, offloaded = SAVED.search(text), OFFLOAD.search(text)
    if text.startswith("custom") or offloaded:
        keys = {"remat_policy": "custom", "decoder_layer_input": "device"}
        for found, place in ((kept, "device"), (offloaded, "offload")):
            for name in found.group(1).split(",") if found else ():
                if name in NAMES:
                    keys[NAMES[name]] = place
        return keys
    first = text.replace("(", " ").split()[0]
    known = POLICIES.get(first, first)
    return {"remat_policy": known if known in MAXTEXT else guessed_policy(text)}


def guessed_policy(text):
    """Words instead of a policy's name."""
    if "dots offloaded" in text:
        return "minimal_offloaded"
    if "flash and dots saved" in text:
        return "minimal_flash"
    return "full" if "SAVE_NOTHING" in text or "parent" in text else "save_dot_with_context_except_mlp"


def without_flash_attention(row):
    """JAX-Toolbox's table of Pax: "126M performance numbers were gathered without flash attention", the others with (README of the source)."""
    return row["id"].startswith("jaxtoolbox-pax-126m")


def attention(row):
    text, tpu = row["attention"], row["device"].startswith("TPU")
    keys = {"hardware": "tpu" if tpu else "gpu"}
    if not tpu and without_flash_attention(row):
        return keys | {"attention": "te_unfused" if "Transformer Engine" in text else "praxis"}
    if not tpu:
        return keys | {"attention": "dot_product" if text == "dot_product" else "cudnn_flash_te"}
    if text.startswith(("pallas", "flash", "XLA flash")):
        return keys | {"attention": "pallas_flash", "sa_block_q": 512}
    if text == "dot_product":
        return keys | {"attention": "dot_product"}
    q, kv = (re.search(pattern, text) for pattern in (r"block_q (\d+)", r"kv (\d+)"))
    both = re.search(r"block (\d+)", text)
    keys |= {"attention": "flash", "sa_use_fused_bwd_kernel": "fused backward" in text}
    if both or q:
        keys |= {"sa_block_q": int((both or q).group(1)), "sa_block_kv": int((both or kv or q).group(1))}
    later = re.search(r"dkv and dq (\d+)", text)
    return keys | ({name: int(later.group(1)) for name in ("sa_block_q_dkv", "sa_block_kv_dkv", "sa_block_q_dq", "sa_block_kv_dq")} if later else {})


def mesh(text):
    keys = {"dcn_data_parallelism": 1}
    for part in text.split(";"):
        name, size = re.match(r"\s*(\w+)=(\d+)", part).groups()
        keys[f"{name}_parallelism"] = int(size)
    return keys


def quantisation(row):
    text = row["quantisation"]
    if text.startswith("int8"):
        return {"quantization": "int8"}
    if text.startswith("fp8"):
        static = "fixed" in text
        return {"quantization": "fp8_static" if static else "fp8" if not row["device"].startswith("TPU") else "fp8_full"}
    return {}


def one_hot_embedding(row):
    """Whether the run multiplied one-hot rows with the table or gathered from it: use_iota_embed of MaxText's scripts, EMBEDDING_LOOKUP_STYLE of
    Paxml's TransformerLmSpmdAdam, which all GPTs of its GPU folder and of MLPerf extend (data/published/README.md names files)."""
    source, model = row["source"], row["model"].lower()
    if source.startswith("AI-Hypercomputer/maxtext"):
        return row["device"] != "TPUv4" and ":docs/guides" not in source
    if source.startswith("AI-Hypercomputer/tpu-recipes"):
        return not model.startswith(GATHERED) and not (row["device"] == "TPUv5p" and model.startswith("mixtral"))
    return bool(re.search("[:/]maxtext/", source)) or model.startswith("gpt3") or of_paxml(row) and model.startswith(("gpt", "glam"))


def others(row):
    keys = {"max_target_length": int(row["seq"]), "per_device_batch_size": float(row["per_device_batch"]), "scan_layers": row["scan"] != "0",
            "gradient_accumulation_steps": int(row["grad_accum"] or 1), "weight_dtype": "bfloat16" if "weights bf16" in row["optimizer"] else "float32"}
    keys |= {"fused_qkv": True} if "fused qkv" in row["notes"] else {}
    keys |= {"logits_dot_in_fp32": True} if "logits matmul in f32" in row["notes"] or "2023" in row["model"] else {}
    tiles = re.search(r"vocabulary tiled in (\d+)", row["notes"])
    return keys | ({"num_vocab_tiling": int(tiles.group(1))} if tiles else {}) | ({"use_iota_embed": True} if one_hot_embedding(row) else {})


def configuration(row):
    """MaxText's keys for a row."""
    return {**dimensions(row["model"]), **attention(row), **rematerialisation(row["remat"]), **mesh(row["mesh"]), **quantisation(row), **others(row)}


def chips(row):
    """Of one slice, where the topology tells its shape; and how many slices."""
    text = row["topology"]
    slices, shape = re.match(r"(\d+) slice", text), re.search(r"(\d+(?:x\d+)+)", text)
    return math.prod(map(int, shape.group(1).split("x"))) if shape else 0, int(slices.group(1)) if slices else 1


def device_of(row):
    """A chip of TPU7x is two of JAX's devices."""
    each, slices = chips(row)
    return "TPU7x_core" if row["device"] == "TPU7x" and int(row["devices"]) == 2 * each * slices else row["device"]


def system(row):
    """A cluster in one line (docs/simulation.md), from the columns topology, device and devices."""
    text, device, devices = row["topology"], device_of(row), int(row["devices"])
    if device.startswith("TPU"):
        slices = re.match(r"(\d+) slice", text)
        slices = int(slices.group(1)) if slices else 1
        found = re.search(r"(\d+(?:x\d+)+)", text)
        shape = found.group(1) if found else f"{devices // slices}"
        return f"{device} {shape}" + (f" slices={slices}" if slices > 1 else "")
    hosts = int(row["hosts"] or max(1, devices // 8))
    each = devices // hosts
    if hosts == 1:
        return f"{device} {each}"
    speed = re.search(r"\((\d+) Gb/s per GPU|(\d+) Gb/s per GPU|: \d+ x (\d+) Gb/s", text)
    rate = next((value for value in speed.groups() if value), None) if speed else None
    network = "tcp" if "TCPX" in text else "ib"
    return f"{device} {each}x{hosts}" + (f" {network}={rate}Gbit/s" if rate else "")


def of_paxml(row):
    return bool(re.search("[:/]pax(ml)?/", row["source"]))


def stated_flags(row):
    """The row's words. JAX-Toolbox's table of Pax leaves them to its README ("XLA Flags", as of June 2024, when the figures appeared): a combined
    all-reduce of 32 MiB for 126M and of 50 KiB for the others, no Triton in softmaxes and no CUDA graphs (graph_level=0, which the README of October 2023
    says that the script of all three sizes sets)."""
    if not row["id"].startswith("jaxtoolbox-pax"):
        return row["xla_flags"]
    return f"{row['xla_flags']}; no Triton GEMM/softmax; no command buffers; combine AR={33554432 if '126M' in row['model'] else 51200}"


def in_compute_stream(row):
    """Whether collectives ran in the stream of the computation: XLA of the first half of 2024 without a profile, layers in a loop, and a policy that saves
    the results of single matmuls. openxla/xla#14397 (and jax-ml/jax#22252, jaxlib 0.4.30) reports it of 7B and 30B models with the flags of these rows: "working
    correctly without activation checkpointing", "executing in compute stream when I try to checkpoint anything". No cause is told there, and its author doubted this one a
    week later: a 70B model ran so without such a policy, too. docs/published.md has the errors without this rule."""
    early = "no PGLE" in row["notes"] + row["xla_flags"] or of_paxml(row)
    return early and not row["device"].startswith("TPU") and row["scan"] != "0" and rematerialisation(row["remat"])["remat_policy"] not in ("none", "full")


def tpu_flags(text):
    threshold = re.search(r"windowed einsum threshold (\d+)", text)
    mib = threshold.group(1) if threshold else "1000000" if "collective matmul off" in text else None
    flags = [f"--xla_jf_spmd_threshold_for_windowed_einsum_mib={mib}"] if mib else []
    offloaded = re.search(r"SparseCore offload of ([^;]*)", text)
    kinds = offloaded.group(1).replace("-", "_") if offloaded else ""
    return flags + [f"--xla_tpu_enable_sparse_core_collective_offload_{kind}=true" for kind in ("all_reduce", "reduce_scatter") if kind in kinds]


def xla_flags(row):
    """Thresholds, and what else changes kernels or their order."""
    names = {"AR": "all_reduce", "AG": "all_gather", "RS": "reduce_scatter"}
    text = stated_flags(row)
    found = re.findall(r"\b(AR|AG|RS)=(\d+)", text)
    if row["device"].startswith("TPU"):
        return tpu_flags(text)
    flags = [f"--xla_gpu_{names[name]}_combine_threshold_bytes={size}" for name, size in found]
    if re.search(r"(?<!async )pipelined AG/RS/AR", text):
        flags += [f"--xla_gpu_enable_pipelined_{kind}=true" for kind in names.values()]
    if "no Triton GEMM/softmax" in text:
        flags.append("--xla_gpu_enable_triton_softmax_fusion=false")
    if "no command buffers" in text:
        flags.append("--xla_gpu_enable_command_buffer=")
    if "no PGLE" in text or of_paxml(row):  # runs of 2024 without a profile: XLA had no model of the device
        flags.append("--xla_gpu_enable_analytical_sol_latency_estimator=false")
    if in_compute_stream(row):
        flags.append("--xla_gpu_disable_async_collectives=allgather,allreduce,reducescatter")
    return flags


# Why a row may be far off, as its notes or settings say: the first that fits
REMARKS = (
    (lambda row: row["id"].startswith("mlperf"), "an evaluation is inside the published time (5 to 25 %)"),
    (lambda row: row["id"].startswith("axlearn"), "software and date unknown"),
    (lambda row: "not in the stored class" in row["remat"], "rematerialisation unknown: full assumed"),
    (lambda row: row["id"].startswith("jaxtoolbox"), "flags partly unknown"),
    (lambda row: "PGLE (" not in row["xla_flags"] and not row["device"].startswith("TPU"), "scheduled without a profile"),
    (lambda row: "MoE" in row["model"] or " E" in row["model"], "experts by ragged kernels (megablox on TPUs, priced by its blocks)"),
)


def remark(row):
    return next((text for fits, text in REMARKS if fits(row)), "")


def write(row, path):
    """The configuration as MaxText's YAML; JSON is YAML, so that no library is needed."""
    import json

    lines = [f"{key}: {json.dumps(value)}" for key, value in configuration(row).items()]
    path.write_text(f"# {row['id']}: {row['source']}\n" + "\n".join(lines) + "\n")
