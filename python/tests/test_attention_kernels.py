"""Kernels of attention that MaxText's configurations name: shapes of their results and gradients, and what is refused."""
import collections
import os
import pathlib
import re
import sys
import tempfile
import unittest

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "export"))

import maxtext_config  # noqa: E402
from models import attention_kernels, ring_attention  # noqa: E402
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

    def test_the_softmax_reads_no_score_that_the_mask_hides(self):
        """And writes all: half of the scores and all weights forward; halves of both and the whole gradient backward."""
        keys = maxtext_config.settings("none.yml", {"attention": "megatron", "base_num_query_heads": HEADS, "base_num_kv_heads": HEADS, "ici_fsdp_parallelism": DEVICES})
        config, split = maxtext_config.configuration(keys), Split(make_mesh(*maxtext_config.mesh_parts(keys, DEVICES), jax.devices()))
        array = jax.ShapeDtypeStruct((DEVICES, 256, HEADS, 128), jnp.bfloat16)

        def total(*operands):
            return attend(config, split, *operands, config.groups[0][1][0]).astype(jnp.float32).sum()

        text = jax.jit(jax.grad(total)).lower(array, array, array).as_text()
        scores = 2 * HEADS * 256 * 256  # bytes of a device's
        found = {name: int(count) for name, count in re.findall(r"@(scaled_upper_triang_masked_softmax\w*)\(.*?bytes_accessed\\22: (\d+)", text)}
        self.assertEqual(found, {"scaled_upper_triang_masked_softmax": 1.5 * scores, "scaled_upper_triang_masked_softmax_backward": 2 * scores})

    def test_chunks_are_sequences_of_their_own(self):
        found, expected = shapes(decoder_block="llama4", chunk_attn_window_size=128)
        self.assertEqual(found, expected)

    def test_windows_and_parts_of_sequences_are_refused(self):
        for overrides in ({"decoder_block": "mistral", "sliding_window_size": 128}, {"ici_context_parallelism": 2, "ici_fsdp_parallelism": 4},
                          {"ici_sequence_parallelism": 2, "ici_fsdp_parallelism": 4}):
            with self.assertRaisesRegex(maxtext_config.Unsupported, "dot_product"):
                shapes(**overrides)
            shapes(**overrides, attention="dot_product")


class Residual(unittest.TestCase):
    def step(self, **overrides):
        from models import maxtext

        keys = maxtext_config.settings("none.yml", {"decoder_block": "gpt3", "mlp_activations": ["gelu"], "base_emb_dim": 256, "base_mlp_dim": 1024, "base_num_decoder_layers": 1,
                                                    "base_num_query_heads": 8, "base_num_kv_heads": 8, "head_dim": 32, "vocab_size": 512, "max_target_length": 128,
                                                    "per_device_batch_size": 1, "scan_layers": False, "remat_policy": "full", "ici_tensor_parallelism": 8,
                                                    "ici_fsdp_parallelism": 1, **overrides})
        return maxtext.build(make_mesh(*maxtext_config.mesh_parts(keys, DEVICES), jax.devices()), maxtext_config.configuration(keys)).lower().as_text()

    def test_a_layer_that_is_computed_again_is_so_to_its_end(self):
        """Whose last matmul is needed for the kernel behind it alone; without that kernel it is left out."""
        fused, plain = (self.step(attention=attention) for attention in ("megatron", "te_unfused"))
        last = "(tensor<8x128x1024xbf16>, tensor<1024x256xbf16>) -> tensor<8x128x256xbf16>"
        self.assertEqual([text.count(last) for text in (fused, plain)], [2, 1])
        self.assertEqual([text.count("@bias_dropout_add(") for text in (fused, plain)], [4, 0])

    def test_norms_are_kernels_forward_and_backward(self):
        """Two of a layer, which are computed again, and the last one."""
        fused, plain = (self.step(attention=attention) for attention in ("megatron", "te_unfused"))
        names = ("layer_norm", "layer_norm_backward", "layer_norm_backward_weights")
        self.assertEqual([[text.count(f"@{name}(") for name in names] for text in (fused, plain)], [[5, 3, 3], [0, 0, 0]])

    def test_without_sequence_parallelism_each_tensor_device_has_the_whole_residual_stream(self):
        of = {divided: self.step(attention="megatron", sequence_parallel=divided) for divided in (True, False)}
        part = "tensor<8x128x32xbf16>"
        self.assertEqual([any("@bias_dropout_add(" in line and part in line for line in of[divided].splitlines()) for divided in (True, False)], [True, False])


def lowered(**overrides):
    keys = maxtext_config.settings("none.yml", {"base_num_query_heads": KEY_HEADS, "base_num_kv_heads": KEY_HEADS, **overrides})
    config = maxtext_config.configuration(keys)
    split = Split(make_mesh(*maxtext_config.mesh_parts(keys, DEVICES), jax.devices()))
    array = jax.ShapeDtypeStruct((DEVICES, 256, KEY_HEADS, 128), jnp.bfloat16)
    return jax.jit(lambda *arrays: attend(config, split, *arrays, config.groups[0][1][0])).lower(array, array, array).as_text()


class Unfused(unittest.TestCase):
    def test_transformer_engine_without_fused_attention_has_its_softmax_and_no_dropout(self):
        text = lowered(attention="te_unfused")
        self.assertIn("@scaled_upper_triang_masked_softmax", text)
        self.assertNotIn("fused_dropout", text)

    def test_scores_of_praxis_are_rows_as_the_matmul_writes_them(self):
        written = [line.split("-> ")[-1].split(" ")[0] for line in lowered(attention="praxis").splitlines() if "dot_general" in line]
        self.assertEqual(written[0], f"tensor<1x{KEY_HEADS}x256x256xbf16>")
        q, k, v = (jax.random.normal(jax.random.key(at), (1, 16, heads, 4)) for at, heads in enumerate((4, 2, 2)))
        for window in (0, 5):
            np.testing.assert_allclose(attention_kernels.praxis(q, k, v, window), attention_kernels.plain(q, k, v, window, wide=True), atol=1e-5)

    def test_scores_are_as_wide_as_the_configuration_says(self):
        scores = f"tensor<{DEVICES}x{KEY_HEADS}x1x256x256x"
        narrow, wide = lowered(attention="dot_product"), lowered(attention="dot_product", float32_logits=True)
        self.assertNotIn(f"dot_general {scores}f32", narrow)
        self.assertNotIn(f"exponential %{scores}f32", narrow)
        self.assertTrue(any("exponential" in line and f"{scores}bf16" in line for line in narrow.splitlines()))
        self.assertTrue(any("exponential" in line and f"{scores}f32" in line for line in wide.splitlines()))


class Ring(unittest.TestCase):
    RING = {"attention": "cudnn_flash_te", "context_parallel_strategy": "ring", "ici_context_parallelism": 4, "ici_fsdp_parallelism": 2}

    def test_shapes_are_those_of_gathered_keys(self):
        found, expected = shapes(**self.RING)
        self.assertEqual(found, expected)

    def test_keys_and_values_go_round_and_nothing_is_gathered(self):
        """Forward one step less than there are devices; backward, with sums of gradients, as many, and the sums once more."""
        keys = maxtext_config.settings("none.yml", {"base_num_query_heads": 8, "base_num_kv_heads": 8, **self.RING})
        config, split = maxtext_config.configuration(keys), Split(make_mesh(*maxtext_config.mesh_parts(keys, DEVICES), jax.devices()))
        array = jax.ShapeDtypeStruct((DEVICES, 256, 8, 128), jnp.bfloat16, sharding=split.sharding((DEVICES, 256, 8, 128), ("batch", "length", "heads", None)))

        def total(*operands):
            return attend(config, split, *operands, config.groups[0][1][0]).astype(jnp.float32).sum()

        text = jax.jit(jax.grad(total, argnums=(0, 1, 2))).trace(array, array, array).lower(lowering_platforms=("cuda",)).as_text()
        moved = collections.Counter(re.findall(r"collective_permute\".*\(tensor<([\dx]+)xbf16>\)", text))
        self.assertEqual(moved, {"2x4x64x8x128": 3 + 1, "2x2x4x64x8x128": 4})
        self.assertEqual(text.count("@__cudnn$fmhaSoftmax("), 4)
        self.assertEqual(text.count("@__cudnn$fmhaSoftmaxBackward("), 4)
        self.assertNotIn("all_gather", text)

    def test_blocks_together_are_attention_over_all_keys(self):
        q, k, v = (jax.random.normal(jax.random.key(at), (1, 8, 2, 4)) for at in range(3))

        def block(q, k, v):
            scores = jnp.einsum("bthd,bshd->bhts", q, k)
            return jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(scores), v), jax.nn.logsumexp(scores, axis=-1)

        out, statistics = ring_attention.merged(*block(q, k[:, :4], v[:, :4]), *block(q[:, 2:], k[:, 4:], v[:, 4:]), 2)
        for found, of_all in ((out[:, 2:], block(q[:, 2:], k, v)[0]), (out[:, :2], block(q[:, :2], k[:, :4], v[:, :4])[0]), (statistics[:, :, 2:], block(q[:, 2:], k, v)[1])):
            self.assertLess(float(jnp.abs(found - of_all).max()), 1e-5)

    def test_devices_compute_what_gathered_keys_let_them(self):
        """Pairs of queries and keys of all steps: half of the square of the sequence, shared by the devices."""
        for count in (2, 4, 8):
            pairs = [(64 - first) * keys / (2 if step == 0 else 1) for step in range(count) for first, keys in [ring_attention.seen(step, count, 64)]]
            self.assertEqual(sum(pairs) * count, (64 * count) ** 2 / 2)

    def test_what_it_does_not_take_is_refused(self):
        for overrides in ({"attention": "flash"}, {"decoder_block": "mistral", "sliding_window_size": 128}, {"attention_type": "mla"},
                          {"decoder_block": "llama4", "chunk_attn_window_size": 64}):
            with self.assertRaisesRegex(maxtext_config.Unsupported, "all_gather"):
                shapes(**{**self.RING, **overrides})
        with self.assertRaisesRegex(maxtext_config.Unsupported, "all_gather and ring are"):
            shapes(**{**self.RING, "context_parallel_strategy": "rings"})


class Megablox(unittest.TestCase):
    def tiles(self, **overrides):
        return maxtext_config.configuration(maxtext_config.settings("none.yml", {"hardware": "tpu", **overrides})).expert_tiles

    def test_blocks_are_those_of_the_configuration(self):
        self.assertEqual(self.tiles(), ((((512, 1024, 1024),) * 3),) * 2)
        self.assertEqual(self.tiles(tile_batch_seq=256, tile_embed_dim=2048, tile_mlp_dim=4096), (((256, 2048, 4096),) * 3,) * 2)
        wi, wo = self.tiles(wi_tile_fwd_mlp_dim=256, wi_tile_dlhs_mlp_dim=128, wo_tile_drhs_embed_dim=64)
        self.assertEqual(wi, ((512, 1024, 256), (512, 128, 1024), (512, 1024, 1024)))
        self.assertEqual(wo, ((512, 1024, 1024), (512, 1024, 1024), (512, 1024, 64)))

    def test_without_megablox_and_on_gpus_nothing_is_known_of_blocks(self):
        for overrides in ({"megablox": False}, {"hardware": "gpu"}):
            self.assertEqual(self.tiles(**overrides), (((),) * 3,) * 2)


if __name__ == "__main__":
    unittest.main()
