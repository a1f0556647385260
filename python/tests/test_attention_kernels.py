"""Kernels of attention that MaxText's configurations name: shapes of their results and gradients, and what is refused."""
import os
import pathlib
import sys
import tempfile
import unittest

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "export"))

import maxtext_config  # noqa: E402
from models.attention_kernels import attend  # noqa: E402
from models.mesh_rules import Split, make_mesh  # noqa: E402

DEVICES = 8
HEADS, KEY_HEADS = 32, 8


def shapes(**overrides):
    """Of attention's result, and of the gradients of queries, keys and values."""
    keys = maxtext_config.settings("none.yml", {"attention": "megatron", "base_num_query_heads": HEADS, "base_num_kv_heads": KEY_HEADS, **overrides})
    config, parts = maxtext_config.configuration(keys), maxtext_config.mesh_parts(keys, DEVICES)
    split = Split(make_mesh(*parts, jax.devices()))
    q, k = (jax.ShapeDtypeStruct((DEVICES, 256, heads, 128), jnp.bfloat16) for heads in (HEADS, KEY_HEADS))

    def total(*operands):
        out = attend(config, split, *operands, config.groups[0][1][0])
        return out.astype(jnp.float32).sum(), out

    gradients, out = jax.eval_shape(jax.grad(total, argnums=(0, 1, 2), has_aux=True), q, k, k)
    return [each.shape for each in (out, *gradients)], [q.shape, q.shape, k.shape, k.shape]


class Megatron(unittest.TestCase):
    def test_query_heads_share_keys(self):
        for tensor in (1, 2, 8):
            found, expected = shapes(ici_tensor_parallelism=tensor, ici_fsdp_parallelism=DEVICES // tensor)
            self.assertEqual(found, expected, tensor)

    def test_chunks_are_sequences_of_their_own(self):
        found, expected = shapes(decoder_block="llama4", chunk_attn_window_size=128)
        self.assertEqual(found, expected)

    def test_windows_and_parts_of_sequences_are_refused(self):
        for overrides in ({"decoder_block": "mistral", "sliding_window_size": 128}, {"ici_context_parallelism": 2, "ici_fsdp_parallelism": 4},
                          {"ici_sequence_parallelism": 2, "ici_fsdp_parallelism": 4}):
            with self.assertRaisesRegex(maxtext_config.Unsupported, "dot_product"):
                shapes(**overrides)
            shapes(**overrides, attention="dot_product")


if __name__ == "__main__":
    unittest.main()
