"""What each device runs of a program that JAX lowered for several: XLA's SPMD partitioner on pretended CPU devices.

Used by lower.py and remesh.py and, in the package, by hespas.load for jax.stages.Lowered objects.
"""
import pathlib
import tempfile
import threading
import time

MOST_DEVICES = 2048  # of one process in XLA's CPU client (kMaxCPUDevicesPerProcess)
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
        reason = failure_of(compile_with, folder)
        return largest_dump(folder, reason)


def early_hlo(compile_with, folder):
    """The same as soon as the partitioner is done, with the dumps in `folder`: a tenth of the work.

    XLA goes on in a thread that nothing can stop, so this is for processes that end (os._exit) when they have the text.
    """
    failures = []
    compiling = threading.Thread(target=lambda: failures.append(failure_of(compile_with, folder)), daemon=True)
    compiling.start()
    return whole_dump(folder, compiling.is_alive, lambda: failures[0])


def whole_dump(folder, goes_on, reason=lambda: "it left no partitioned program"):
    """The partitioned program as soon as it is whole, from whoever compiles as long as `goes_on()`."""
    while goes_on():
        for path in pathlib.Path(folder).glob(DUMPS[0]):
            text = path.read_text()
            if is_whole(text):
                return text
        time.sleep(0.02)
    return largest_dump(folder, reason())


def is_whole(text):
    """Whether all of a dump has been written: the entry computation stands last."""
    return "\nENTRY " in text and text.rstrip("\n").endswith("\n}")


def failure_of(compile_with, folder):
    """What XLA said where it failed behind its dumps."""
    options = {"xla_dump_to": str(folder), "xla_dump_hlo_pass_re": PASSES, "xla_dump_hlo_as_text": True, "xla_dump_large_constants": True,
               "xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
    try:
        compile_with(options)
    except Exception as error:  # noqa: BLE001 - of any kind; what was dumped before it counts
        return str(error)
    return "it left no partitioned program"


def largest_dump(folder, reason):
    for pattern in DUMPS:
        dumps = sorted(pathlib.Path(folder).glob(pattern), key=lambda path: path.stat().st_size)
        if dumps:
            return dumps[-1].read_text()
    raise NotPartitioned(f"XLA could not partition the program: {reason}")
