"""What each device runs of a program that JAX lowered for several: XLA's SPMD partitioner on pretended CPU devices.

Used by lower.py and candidates.py and, in the package, by hespas.load for jax.stages.Lowered objects.
"""
import pathlib
import tempfile

# Behind the partitioner XLA inlines the calls that it made; the pass after that shows the program as it then is.
PASSES = "spmd-partitioning|call-inliner|sub-byte-size-setter"
DUMPS = ("*SubbytePacker_pipeline.after_pipeline-start*.txt", "*.spmd-partitioner.after_call-inliner*.txt", "*after_spmd-partitioning*.txt")


class NotPartitioned(Exception):
    """XLA refused; the message has its reason."""


def partitioned_hlo(lowered):
    """HLO text, before any optimisation."""
    return dumped_hlo(lambda options: lowered.compile(compiler_options=options))


def dumped_hlo(compile_with):
    """HLO text behind the partitioner of what `compile_with(XLA options)` compiles.

    Code generation follows in XLA, but is kept short; its failure does not matter.
    """
    with tempfile.TemporaryDirectory(prefix="hespas-") as folder:
        options = {"xla_dump_to": folder, "xla_dump_hlo_pass_re": PASSES, "xla_dump_hlo_as_text": True,
                   "xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
        reason = "it left no partitioned program"
        try:
            compile_with(options)
        except Exception as error:  # noqa: BLE001 - of any kind; what was dumped before it counts
            reason = str(error)
        for pattern in DUMPS:
            dumps = sorted(pathlib.Path(folder).glob(pattern), key=lambda path: path.stat().st_size)
            if dumps:
                return dumps[-1].read_text()
    raise NotPartitioned(f"XLA could not partition the program: {reason}")
