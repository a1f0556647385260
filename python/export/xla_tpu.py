#!/usr/bin/env python3
"""XLA's TPU compiler without a TPU: StableHLO in, optimised HLO text out. Runs in the environment of python/locks/tpu.txt:

    $(scripts/python_env.sh tpu) python/export/xla_tpu.py PROGRAM --topology TOPOLOGY.json --output FOLDER

PROGRAM is StableHLO text or bytecode, plain or gzip, before partitioning. TOPOLOGY has the arguments of JAX's get_topology_desc;
python/export/targets.py makes them from a device file. FOLDER gets optimised.hlo and worker.json (versions, seconds). libtpu shows no
program from between its passes.

Exit status 3 with one line on stderr where XLA refuses the program.
"""
import argparse
import importlib.metadata
import json
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import xla_gpu  # noqa: E402

# No TPU, no metadata server and no fellow worker is to be looked for; several compilations may run at once.
ENVIRONMENT = {"JAX_PLATFORMS": "cpu", "JAX_ENABLE_COMPILATION_CACHE": "false", "TPU_SKIP_MDS_QUERY": "1", "TPU_ACCELERATOR_TYPE": "v4-8",  # any keeps libtpu quiet; --topology counts
               "TPU_WORKER_HOSTNAMES": "localhost", "ALLOW_MULTIPLE_LIBTPU_LOAD": "1", "TPU_MIN_LOG_LEVEL": "3",
               "TPU_STDERR_LOG_LEVEL": "3", "TF_CPP_MIN_LOG_LEVEL": "3"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--topology", required=True)
    parser.add_argument("--output", required=True)
    return parser.parse_args()


def optimised_hlo(content, topology):
    from jax._src.interpreters import mlir as jax_mlir
    from jax.experimental import topologies
    from jaxlib import _jax

    module = xla_gpu.parse(content)
    head = module.operation.get_asm(enable_debug_info=False, large_elements_limit=16)
    replicas, partitions = xla_gpu.count(head, "replicas"), xla_gpu.count(head, "partitions")
    devices = topologies.get_topology_desc(platform="tpu", **topology).devices[:replicas * partitions]
    options = xla_gpu.compile_options(replicas, partitions, "sdy." in head)
    with module.context:
        compiled = devices[0].client.compile(jax_mlir.module_to_bytecode(module), _jax.DeviceList(tuple(devices)), options)
    return compiled.hlo_modules()[0].to_string()


def main():
    options = arguments()
    os.environ.update(ENVIRONMENT)
    output = pathlib.Path(options.output)
    output.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    import jax
    try:
        text = optimised_hlo(xla_gpu.read(options.program), json.loads(pathlib.Path(options.topology).read_text()))
    except Exception as error:  # noqa: BLE001 - of any kind; its message is what the caller needs
        sys.stderr.write("XLA refused the program: " + " ".join(str(error).split())[:2000] + "\n")
        return 3
    (output / "optimised.hlo").write_text(text)
    (output / "worker.json").write_text(json.dumps({"jax": jax.__version__, "libtpu": importlib.metadata.version("libtpu"),
                                                    "seconds": round(time.monotonic() - start, 1)}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
