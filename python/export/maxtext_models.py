"""Dimensions of the models that MaxText knows by name: facts from its configs/models/*.yml (AI-Hypercomputer/maxtext, Apache-2.0)."""


def model(width, heads, kv_heads, mlp, layers, vocabulary, block="llama2", **others):
    return {"base_emb_dim": width, "base_num_query_heads": heads, "base_num_kv_heads": kv_heads, "base_mlp_dim": mlp,
            "base_num_decoder_layers": layers, "vocab_size": vocabulary, "decoder_block": block, **others}


GELU = {"mlp_activations": ["gelu", "linear"], "logits_via_embedding": True}
GPT3 = {"block": "gpt3", "mlp_activations": ["gelu"], "logits_via_embedding": True, "trainable_position_size": 16384, "fused_qkv": True,
        "use_iota_embed": True, "opt_type": "adam_pax"}
LLAMA3 = {"rope_max_timescale": 500000}
MLA = {"attention_type": "mla", "block": "deepseek", "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "kv_lora_rank": 512}


def experts(count, top, mlp, **others):
    return {"num_experts": count, "num_experts_per_tok": top, "base_moe_mlp_dim": mlp, **others}


MODELS = {
    "llama2-7b": model(4096, 32, 32, 11008, 32, 32000),
    "llama2-13b": model(5120, 40, 40, 13824, 40, 32000),
    "llama2-70b": model(8192, 64, 8, 28672, 80, 32000),
    "llama3-8b": model(4096, 32, 8, 14336, 32, 128256, **LLAMA3),
    "llama3-70b": model(8192, 64, 8, 28672, 80, 128256, **LLAMA3),
    "llama3-405b": model(16384, 128, 8, 53248, 126, 128256, **LLAMA3),
    "mistral-7b": model(4096, 32, 8, 14336, 32, 32000, "mistral"),
    "mixtral-8x7b": model(4096, 32, 8, 14336, 32, 32000, "mixtral", **experts(8, 2, 14336)),
    "mixtral-8x22b": model(6144, 48, 8, 16384, 56, 32768, "mixtral", **experts(8, 2, 16384)),
    "gemma-2b": model(2048, 8, 1, 16384, 18, 256128, "gemma", head_dim=256, **GELU),
    "gemma-7b": model(3072, 16, 16, 24576, 28, 256128, "gemma", head_dim=256, **GELU),
    "gemma2-2b": model(2304, 8, 4, 9216, 26, 256128, "gemma2", head_dim=256, sliding_window_size=4096, **GELU),
    "gemma2-9b": model(3584, 16, 8, 14336, 42, 256128, "gemma2", head_dim=256, sliding_window_size=4096, **GELU),
    "gemma2-27b": model(4608, 32, 16, 36864, 46, 256128, "gemma2", head_dim=128, sliding_window_size=4096, **GELU),
    "gemma3-4b": model(2560, 8, 4, 10240, 34, 262144, "gemma3", head_dim=256, sliding_window_size=1024, **GELU),
    "gemma3-12b": model(3840, 16, 8, 15360, 48, 262144, "gemma3", head_dim=256, sliding_window_size=1024, **GELU),
    "gemma3-27b": model(5376, 32, 16, 21504, 62, 262144, "gemma3", head_dim=128, sliding_window_size=1024, **GELU),
    "gpt3-6b": model(4096, 32, 32, 16384, 32, 50304, head_dim=128, **GPT3),
    "gpt3-22b": model(6144, 64, 64, 24576, 48, 51200, head_dim=96, **GPT3),
    "gpt3-52k": model(16, 2, 2, 64, 1, 1024, head_dim=8, **GPT3),
    "gpt3-175b": model(12288, 96, 96, 49152, 96, 50304, head_dim=128, **GPT3),
    "deepseek2-16b": model(2048, 16, 16, 10944, 27, 102400, first_num_dense_layers=1, **experts(64, 6, 1408, shared_experts=2), **MLA),
    "deepseek2-236b": model(5120, 128, 128, 12288, 60, 102400, first_num_dense_layers=1, q_lora_rank=1536,
                            **experts(160, 6, 1536, shared_experts=2), **MLA),
    "deepseek3-671b": model(7168, 128, 128, 18432, 61, 129280, first_num_dense_layers=3, q_lora_rank=1536,
                            **experts(256, 8, 2048, shared_experts=1), **MLA),
    "kimi-k2-1t": model(7168, 64, 64, 18432, 61, 163840, first_num_dense_layers=1, q_lora_rank=1536, **experts(384, 8, 2048, shared_experts=1), **MLA),
    "llama4-17b-16e": model(5120, 40, 8, 8192, 48, 202048, "llama4", chunk_attn_window_size=8192, **LLAMA3,
                            **experts(16, 1, 8192, shared_experts=1)),
    "llama4-17b-128e": model(5120, 40, 8, 16384, 48, 202048, "llama4", chunk_attn_window_size=8192, interleave_moe_layer_step=2, **LLAMA3,
                             **experts(128, 1, 8192, shared_experts=1)),
    "qwen3-0.6b": model(1024, 16, 8, 3072, 28, 151936, "qwen3", logits_via_embedding=True),
    "qwen3-4b": model(2560, 32, 8, 9728, 36, 151936, "qwen3", logits_via_embedding=True),
    "qwen3-8b": model(4096, 32, 8, 12288, 36, 151936, "qwen3"),
    "qwen3-14b": model(5120, 40, 8, 17408, 40, 151936, "qwen3"),
    "qwen3-32b": model(5120, 64, 8, 25600, 64, 151936, "qwen3"),
    "qwen3-30b-a3b": model(2048, 32, 4, 768, 48, 151936, "qwen3_moe", **experts(128, 8, 768)),
    "qwen3-235b-a22b": model(4096, 64, 4, 1536, 94, 151936, "qwen3_moe", **experts(128, 8, 1536)),
    "qwen3-coder-480b-a35b": model(6144, 96, 8, 2560, 62, 151936, "qwen3_moe", **experts(160, 8, 2560)),
    "gpt-oss-20b": model(2880, 64, 8, 2880, 24, 201088, "gpt_oss", head_dim=64, sliding_window_size=128, **experts(32, 4, 2880)),
    "gpt-oss-120b": model(2880, 64, 8, 2880, 36, 201088, "gpt_oss", head_dim=64, sliding_window_size=128, **experts(128, 4, 2880)),
}
MODELS |= {f"llama3.1-{size}": MODELS[f"llama3-{size}"] for size in ("8b", "70b", "405b")} | {"llama3.3-70b": MODELS["llama3-70b"]}
