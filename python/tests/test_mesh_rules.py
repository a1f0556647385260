"""Logical axes of MaxText's arrays on its mesh."""
import os
import pathlib
import sys
import unittest

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "export"))

from models.mesh_rules import Split, make_mesh  # noqa: E402


class Transposed(unittest.TestCase):
    def setUp(self):
        self.split = Split(make_mesh({}, {"fsdp_transpose": 4, "tensor": 2}, jax.devices()))

    def test_matrices_of_the_mlp_are_divided_by_their_inner_dimension(self):
        self.assertEqual(self.split.spec("embed", "mlp"), P(None, ("fsdp_transpose", "tensor")))
        self.assertEqual(self.split.spec("mlp", "embed"), P(("fsdp_transpose", "tensor"), None))

    def test_others_are_divided_by_their_width(self):
        self.assertEqual(self.split.spec("embed", "heads", None), P("fsdp_transpose", "tensor", None))
        self.assertEqual(self.split.spec("vocab", "embed"), P("tensor", "fsdp_transpose"))

    def test_activations_keep_the_axis_for_their_batch(self):
        self.assertEqual(self.split.spec("batch", "length", "mlp"), P("fsdp_transpose", None, "tensor"))
        self.assertEqual(self.split.spec("expert", None, "mlp_without_fsdp"), P(None, None, "tensor"))


if __name__ == "__main__":
    unittest.main()
