"""MaxText's rematerialisation policies: what a layer keeps for its backward pass, what it keeps in the host's memory, what it computes again."""
import jax

QKV = ("query_proj", "key_proj", "value_proj", "qkv_proj")
NAMES = {
    "save_dot_with_context_except_mlp": (*QKV, "context", "out_proj"),
    "save_dot_except_mlpwi": (*QKV, "out_proj", "mlpwo"),
    "save_dot_except_mlp": (*QKV, "out_proj"),
    "save_qkv_proj": QKV,
    "save_out_proj": ("out_proj",),
}
POLICIES = ("none", "full", "minimal", "minimal_flash", "minimal_with_context", "minimal_with_context_and_quantization", "qkv_proj_offloaded",
            "minimal_offloaded", "custom", *NAMES)
HOST = {"offload_src": "device", "offload_dst": "pinned_host"}


def policy(config):
    """None recomputes everything."""
    kinds, name = jax.checkpoint_policies, config.remat_policy
    if name == "minimal":
        return kinds.checkpoint_dots_with_no_batch_dims
    if name.startswith("minimal_with_context") or name == "minimal_flash":
        return kinds.save_from_both_policies(kinds.checkpoint_dots_with_no_batch_dims, kinds.save_only_these_names("context"))
    if name == "qkv_proj_offloaded":
        return kinds.save_and_offload_only_these_names(names_which_can_be_saved=[], names_which_can_be_offloaded=list(QKV), **HOST)
    if name == "minimal_offloaded":
        return kinds.offload_dot_with_no_batch_dims(**HOST)
    if name == "custom":
        return kinds.save_and_offload_only_these_names(names_which_can_be_saved=list(config.kept), names_which_can_be_offloaded=list(config.offloaded),
                                                       **HOST)
    return kinds.save_only_these_names(*NAMES[name]) if name in NAMES else None


def applied(config, layer, scan):
    if config.remat_policy == "none":
        return layer
    return jax.checkpoint(layer, policy=policy(config), prevent_cse=not scan)
