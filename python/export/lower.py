#!/usr/bin/env python3
"""From JAX to StableHLO: the part of `hespas export` that imports JAX. Called by export.py with a request in JSON; writes the programs.

    lower.py REQUEST.json      request: see export.py; prints one JSON line per file
    lower.py --convert A.hlo B.mlir    HLO text to StableHLO text
    lower.py --partition A.mlir DEVICES FOLDER    leaves XLA's dumps in the folder
"""
import gzip
import importlib.metadata
import importlib.util
import inspect
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from models.refused import Refused  # noqa: E402
from partition import MOST_DEVICES, NotPartitioned, failure_of, partitioned_hlo, whole_dump  # noqa: E402


def prepare_environment(devices):
    """Before jax is imported: as many pretended CPU devices as the mesh needs, and no search for accelerators."""
    flags = os.environ.get("XLA_FLAGS", "")
    os.environ["XLA_FLAGS"] = f"{flags} --xla_force_host_platform_device_count={devices}".strip()
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["JAX_ENABLE_COMPILATION_CACHE"] = "false"
    os.environ.setdefault("JAX_TRACEBACK_IN_LOCATIONS_LIMIT", "1")  # the names are wanted, with the line that wrote the operation
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def make_mesh(axes, devices):
    import jax
    import numpy as np

    sizes = [size for _, size in axes]
    return jax.sharding.Mesh(np.array(jax.devices()[:devices]).reshape(sizes), tuple(name for name, _ in axes))


# --- programs of a user's file ---------------------------------------------------------------------------------------------------


def import_file(path):
    spec = importlib.util.spec_from_file_location(pathlib.Path(path).stem, path)
    if spec is None:
        raise Refused(f"{path} is no Python file")
    sys.path.insert(0, str(pathlib.Path(path).resolve().parent))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def choose_function(module, name):
    if name:
        if not hasattr(module, name):
            raise Refused(f"{module.__name__} has no function `{name}`")
        return getattr(module, name)
    for usual in ("build", "step", "train_step"):
        if callable(getattr(module, usual, None)):
            return getattr(module, usual)
    own = [value for key, value in vars(module).items() if not key.startswith("_") and key != "arguments" and callable(value)
           and getattr(value, "__module__", None) == module.__name__ and not isinstance(value, type)]
    if len(own) != 1:
        raise Refused(f"{module.__name__} has {len(own)} functions; name one as FILE.py:FUNCTION")
    return own[0]


def parse_argument(mesh, text):
    """"bf16[1024,4096]@fsdp,-" as an abstract array; `-` is a dimension that is not split, `a+b` one split over two axes."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import NamedSharding, PartitionSpec

    found = re.fullmatch(r"\s*(\w+)\[([\d,\s]*)\](?:@([\w,+\-\s]*))?\s*", text)
    if not found:
        raise Refused(f"`{text}` describes no argument; write for example bf16[1024,4096]@fsdp,-")
    names = {"bf16": "bfloat16", "f16": "float16", "f32": "float32", "f64": "float64", "i1": "bool", "pred": "bool",
             **{f"{sign}{bits}": f"{kind}{bits}" for sign, kind in (("i", "int"), ("s", "int"), ("u", "uint"), ("ui", "uint"))
                for bits in (8, 16, 32, 64)}}
    try:
        dtype = jnp.dtype(names.get(found.group(1), found.group(1)))
    except TypeError:
        raise Refused(f"`{found.group(1)}` is no datatype") from None
    shape = tuple(int(size) for size in found.group(2).split(",") if size.strip())
    split = [each.strip() for each in (found.group(3) or "").split(",")] if found.group(3) else []
    axes = [None if each in ("-", "") else tuple(each.split("+")) for each in split]
    for name in {name for each in axes if each for name in each} - set(mesh.axis_names):
        raise Refused(f"the mesh has no axis `{name}`; it has {', '.join(mesh.axis_names)}")
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, PartitionSpec(*axes)))


def call_with_mesh(function, mesh, parameters):
    takes = inspect.signature(function).parameters
    given = {key: value for key, value in parameters.items() if key in takes or any(p.kind is p.VAR_KEYWORD for p in takes.values())}
    for key in set(parameters) - set(given):
        raise Refused(f"`{function.__name__}` takes no parameter `{key}`")
    return function(mesh, **given) if "mesh" in takes or len(takes) > len(given) else function(**given)


def arguments_of(module, mesh, request):
    if request["arguments"]:
        return tuple(parse_argument(mesh, text) for text in request["arguments"])
    there = getattr(module, "arguments", None)
    if there is None:
        raise Refused("what are the arguments? Give --arg once for each, or define `arguments` in the file")
    return tuple(call_with_mesh(there, mesh, request["parameters"]) if callable(there) else there)


def lower_user_program(request, mesh):
    import jax

    module = import_file(request["file"])
    function = choose_function(module, request["function"])
    if function is getattr(module, "build", None):
        function, arguments = call_with_mesh(function, mesh, request["parameters"])
    else:
        arguments = arguments_of(module, mesh, request)
    with mesh:
        if hasattr(function, "lower"):
            return function.lower(*arguments)
        return jax.jit(function).lower(*arguments)


def lowered_programs(request):
    if request["maxtext"]:
        import maxtext_step

        yield "", maxtext_step.lowered(request), ""
        return
    mesh = make_mesh(request["axes"], request["devices"])
    if request.get("ready"):
        import models

        for suffix, step in models.programs(request["ready"], mesh, request["parameters"]):
            with mesh:
                yield suffix, step.lower(), step.platform
    else:
        yield "", lower_user_program(request, mesh), ""


# --- partitioning ------------------------------------------------------------------------------------------------------------


def hlo_to_stablehlo(text):
    from jax._src.interpreters import mlir as jax_mlir
    from jaxlib import _jax
    from jaxlib.mlir import ir

    proto = _jax.hlo_module_from_text(text).as_serialized_hlo_module_proto()
    with jax_mlir.make_ir_context():
        module = ir.Module.parse(_jax.mlir.hlo_to_stablehlo(proto))
        # The text's header has the counts, the proto has not.
        header = text.split("\n", 1)[0]
        for attribute, field in (("mhlo.num_partitions", "num_partitions"), ("mhlo.num_replicas", "replica_count")):
            found = re.search(rf"\b{field}=(\d+)", header)
            module.operation.attributes[attribute] = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), int(found.group(1)) if found else 1)
        return program_text_of(module)


def program_text_of(module):
    """Text with the names of scopes as locations. Of source files only their own names are told: folders say whose machine it was."""
    text = module.operation.get_asm(enable_debug_info=True)
    return re.sub(r'"[^"\n]*/([^"/\n]+)":(?=\d+:\d+)', r'"\1":', text)


def partitioned_stablehlo(hlo):
    """What each device runs. Without exchanges nothing else would tell that the shardings of its arguments have been applied."""
    text = hlo_to_stablehlo(hlo)
    if "replica_groups" in text or "source_target_pairs" in text:
        return text
    return re.sub(r'mhlo\.sharding = "[^"]*"(, )?', "", text)


def count(text, kind):
    found = re.search(rf"mhlo\.num_{kind} = (\d+)", text)
    return int(found.group(1)) if found else 1


def write(path, text):
    path = pathlib.Path(path)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode(), 6, mtime=0))  # 9 takes 3 to 20 times as long and saves at most 7 %
    else:
        path.write_text(text)


def versions():
    there = {each.metadata["Name"].lower(): each.version for each in importlib.metadata.distributions()}
    return {"python": platform.python_version(), **{name: there[name] for name in ("jax", "jaxlib", "flax", "maxtext") if name in there}}


def export(request):
    for suffix, lowered, platform in lowered_programs(request):
        name = request["name"] + (f"-{suffix}" if suffix else "")
        module = lowered.compiler_ir("stablehlo")
        text = program_text_of(module)
        common = {"program": name, "versions": versions(),
                  "partitions": count(text, "partitions"), "replicas": count(text, "replicas")}
        for stage in request["stages"]:
            path = f"{request['output']}/{name}.{stage}.mlir" + (".gz" if request["gzip"] else "")
            if stage == "lowered" or common["partitions"] == 1:
                write(path, text)
            else:
                write(path, partitioned_stablehlo(partitioned(lowered, text, common["partitions"], platform)))
            print(json.dumps({"file": path, "stage": stage, **common, "flags": os.environ["XLA_FLAGS"]}), flush=True)


def partitioned(lowered, text, devices, platform):
    """HLO of what each device runs. A CPU cannot compile another platform's kernels to the end."""
    if not platform:
        return partitioned_hlo(lowered)
    with tempfile.TemporaryDirectory(prefix="hespas-") as folder:
        return dumped_in_child(text, devices, folder)


def dumped_in_child(text, devices, folder):
    """What each device runs, by a process that is ended as soon as it has left it: XLA goes on compiling in threads that nothing stops."""
    program = pathlib.Path(folder) / "program.mlir"
    program.write_text(text)
    child = subprocess.Popen([sys.executable, __file__, "--partition", program, str(devices), folder], stdout=subprocess.DEVNULL)
    try:
        return whole_dump(folder, lambda: child.poll() is None, lambda: told(folder))
    finally:
        child.kill()
        child.wait()


def told(folder):
    reason = pathlib.Path(folder) / "reason"
    return reason.read_text() if reason.exists() else "its process ended"


def partition_here(program, devices, folder):
    from remesh import compiler

    prepare_environment(int(devices))
    reason = failure_of(compiler(pathlib.Path(program).read_text(), int(devices)), folder)
    (pathlib.Path(folder) / "reason").write_text(reason)


def export_like(request):
    """As `export` for a MaxText configuration as our own program, which no CPU could compile to the end."""
    import carry_over
    import maxtext_config
    import maxtext_like

    wanted = request["devices"]
    whole = maxtext_config.settings(request["file"], request["parameters"])
    keys, devices = carry_over.smaller(whole, wanted)
    text = maxtext_like.text_of(keys, devices)
    common = {"program": request["name"], "versions": versions(), "partitions": wanted, "replicas": 1}
    for stage in request["stages"]:
        path = f"{request['output']}/{request['name']}.{stage}.mlir" + (".gz" if request["gzip"] else "")
        if stage == "lowered" or devices == 1:
            write(path, text)
        else:
            with tempfile.TemporaryDirectory(prefix="hespas-", ignore_cleanup_errors=True) as dumps:
                hlo = dumped_in_child(text, devices, dumps)
                write(path, partitioned_stablehlo(carry_over.on_devices(hlo, whole, wanted)))
        print(json.dumps({"file": path, "stage": stage, **common, "flags": os.environ["XLA_FLAGS"]}), flush=True)


def main():
    if sys.argv[1] == "--convert":
        prepare_environment(1)
        write(sys.argv[3], hlo_to_stablehlo(pathlib.Path(sys.argv[2]).read_text()))
        return 0
    if sys.argv[1] == "--partition":
        partition_here(*sys.argv[2:])
        return 0
    request = json.loads(pathlib.Path(sys.argv[1]).read_text())
    prepare_environment(min(request["devices"], MOST_DEVICES) if request.get("like") else request["devices"])
    try:
        (export_like if request.get("like") else export)(request)
    except (Refused, NotPartitioned, ValueError, TypeError) as error:
        if os.environ.get("HESPAS_TRACEBACK"):
            raise
        message = f"{type(error).__name__}: {error}" if type(error) in (ValueError, TypeError) else str(error)
        sys.stderr.write(f"error[E0957]: {message}\nhelp: {getattr(error, 'remedy', '') or 'HESPAS_TRACEBACK=1 shows where'}\n")
        return 5
    return 0


if __name__ == "__main__":
    sys.exit(main())
