"""MaxText's training step, lowered for pretended devices. Runs in the environment of python/locks/maxtext.txt, called by lower.py.

A configuration is MaxText's own YAML. A ready llama3-* becomes one with the settings of the prototype's tutorial: FSDP, 4,096 tokens a
device, bf16 weights, activations of projections kept. Axes of the mesh are MaxText's: `fsdp=4` is ici_fsdp_parallelism=4.
"""
import contextlib
import dataclasses
import pathlib
import sys
import tempfile

TUTORIAL = """base_config: "base.yml"
base_emb_dim: {width}
base_num_query_heads: {heads}
base_num_kv_heads: {kv_heads}
base_num_decoder_layers: {layers}
base_mlp_dim: {mlp}
head_dim: 128
mlp_activations: ["silu","linear"]
vocab_size: 128256
enable_dropout: False
logits_via_embedding: False
normalization_layer_epsilon: 1.0e-5
rope_max_timescale: 500_000
decoder_block: "llama2"
max_target_length: 4096
per_device_batch_size: 1
attention: "dot_product"
use_iota_embed: True
remat_policy: "minimal_with_context"
scan_layers: False
weight_dtype: "bfloat16"
quantization_local_shard_count: {devices}
"""


def configuration(request, folder):
    """The path of the YAML that a request means; a written one lies in `folder`."""
    if request.get("file"):
        return request["file"]
    from models.llama import SIZES

    path = pathlib.Path(folder) / f"{request['ready']}.yml"
    path.write_text(TUTORIAL.format(**dataclasses.asdict(SIZES[request["ready"]]), devices=request["devices"]))
    return str(path)


def settings(request, folder):
    """MaxText's command line."""
    axes = [f"ici_{name}_parallelism={size}" for name, size in request["axes"]]
    own = [f"{key}={value}" for key, value in request["parameters"].items()]
    return ["hespas export", configuration(request, folder), "run_name=export", f"base_output_directory={folder}", "enable_checkpointing=False",
            f"compile_topology=pretended-{request['devices']}", "compile_topology_num_slices=1", "hardware=cpu", *axes, *own]


def lowered(request):
    """jax.stages.Lowered of the step, as MaxText's own train_compile makes it."""
    with tempfile.TemporaryDirectory(prefix="hespas-") as folder, contextlib.redirect_stdout(sys.stderr):  # stdout is lower.py's
        return lower(settings(request, folder), request["devices"])


def lower(arguments, devices):
    import jax
    from flax.linen import partitioning
    from jax.sharding import Mesh
    from MaxText import accelerator_to_spec_map, maxtext_utils, pyconfig, train, train_compile

    known = accelerator_to_spec_map.UserFacingNameToSystemCharacteristics
    known[f"pretended-{devices}"] = accelerator_to_spec_map.SystemCharacteristics("cpu", None, None, None, devices, None)
    jax.config.update("jax_default_prng_impl", "unsafe_rbg")
    config = pyconfig.initialize(arguments)
    mesh = Mesh(maxtext_utils.create_device_mesh(config, jax.devices()[:devices]), config.mesh_axes)
    given, named, state_shardings, model = train_compile.get_shaped_inputs(mesh, config)
    step, ins, outs, static, donated = maxtext_utils.get_functional_train_with_signature(
        train.train_step, maxtext_utils.get_input_data_sharding(config, mesh), state_shardings, model, config)
    with mesh, partitioning.axis_rules(config.logical_axis_rules):
        jitted = jax.jit(step, in_shardings=ins, out_shardings=outs, static_argnums=static, donate_argnums=donated)
        return jitted.lower(*given, **named)
