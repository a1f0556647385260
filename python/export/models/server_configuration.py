"""Models of servers: the ready ones of data/serving/models.json, or a Hugging Face config.json, under the keys that models/serving.py reads."""
import json
import os
import pathlib

from models.refused import Refused

ROOT = pathlib.Path(__file__).resolve().parents[3]  # the source tree, or share/ of the package
FAMILIES = ("llama", "mistral", "qwen2", "qwen3", "mixtral", "qwen3_moe", "qwen2_moe", "gpt_oss", "gemma3", "gemma3_text", "deepseek_v3", "kimi_k2")


def table():
    for folder in (os.environ.get("HESPAS_DATA_DIR"), ROOT / "data", ROOT / "hespas"):
        path = pathlib.Path(folder or "") / "serving" / "models.json"
        if folder and path.is_file():
            return json.loads(path.read_text())["models"]
    return {}


def ready():
    """Names that have a program."""
    return [name for name, config in table().items() if config["model_type"] in FAMILIES]


def configuration(model):
    if not str(model).endswith(".json"):
        return table()[model]
    try:
        config = json.loads(pathlib.Path(model).read_text())
    except (OSError, ValueError) as error:
        raise Refused(f"{model}: {getattr(error, 'strerror', None) or error}") from None
    if not isinstance(config, dict):
        raise Refused(f"{model} holds no object")
    return config.get("text_config", config)


def windows(config, layers):
    window, kinds, pattern = config.get("sliding_window"), config.get("layer_types"), config.get("sliding_window_pattern")
    if not window or config.get("use_sliding_window") is False:
        return [None] * layers
    if kinds:
        return [window if kind == "sliding_attention" else None for kind in kinds[:layers]]
    return [None if pattern and (at + 1) % pattern == 0 else window for at in range(layers)]


def latent(config):
    """Sizes of latent vectors; None where the model has keys and values."""
    if not config.get("kv_lora_rank"):
        return None
    return {"rank": config["kv_lora_rank"], "rope": config["qk_rope_head_dim"], "nope": config["qk_nope_head_dim"], "value": config["v_head_dim"],
            "query_rank": config.get("q_lora_rank") or 0}


def read(model, layers=0):
    """`layers`: only so many, for a smaller program; 0: all."""
    config = configuration(model)
    family = config.get("model_type")
    if family not in FAMILIES:
        raise Refused(f"`{family}` is no architecture with a program; known: {', '.join(FAMILIES)}")
    try:
        heads, width, mlp = config["num_attention_heads"], config["hidden_size"], config["intermediate_size"]
        count = layers or config["num_hidden_layers"]
        experts = config.get("num_local_experts") or config.get("num_experts") or config.get("n_routed_experts") or 0
        found = {"layers": count, "width": width, "heads": heads, "kv_heads": config.get("num_key_value_heads", heads), "mlp": mlp,
                 "head_dim": config.get("head_dim") or width // heads, "vocabulary": config.get("vocab_size", 262208),
                 "tied": config.get("tie_word_embeddings", family.startswith("gemma")), "qk_norm": family in ("qwen3", "qwen3_moe", "gemma3", "gemma3_text"),
                 "qkv_bias": family in ("qwen2", "qwen2_moe", "gpt_oss"), "windows": windows(config, count), "experts": experts, "dense_layers": min(count, config.get("first_k_dense_replace", 0)) if experts else count,
                 "latent": latent(config)}
    except KeyError as error:
        raise Refused(f"{model} lacks {error}") from None
    if experts:
        found |= {"experts_per_token": config.get("num_experts_per_tok") or config.get("experts_per_token") or 1,
                  "expert_mlp": config.get("moe_intermediate_size", mlp), "shared_mlp": config.get("shared_expert_intermediate_size") or config.get("n_shared_experts", 0) * config.get("moe_intermediate_size", 0)}
    return found
