#!/usr/bin/env python3
"""`hespas export`: programs from JAX on a machine without accelerators.

    hespas export step.py:train --devices 4 --axes fsdp=4 --arg 'bf16[1024,4096]@fsdp,-' --output out
    hespas export llama3-100m --output out                              a ready configuration (--list)
    hespas export llama3-100m --maxtext                                 MaxText's own step; or CONFIG.yml --maxtext
    hespas export CONFIG.yml --maxtext --target-devices 512             the same step for 512 GPUs or TPUs, with the kernels that they run
    hespas export resnet50 --target H200_141GB --target TPUv5e          XLA's GPU and TPU compilers, without GPU and TPU

Writes NAME.lowered.mlir (StableHLO with shardings), NAME.partitioned.mlir (what each device runs) and for each --target
NAME.DEVICE.optimised.hlo, each with FILE.json beside it: versions, mesh, flags, SHA-256, guessed figures.
"""
import argparse
import hashlib
import itertools
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
STAGES = ("lowered", "partitioned")

import targets  # noqa: E402
from environments import ROOT, Refused, environment, jax_python, maxtext_python  # noqa: E402


def data_folder():
    for folder in (os.environ.get("HESPAS_DATA_DIR"), ROOT / "data", ROOT / "hespas"):
        if folder and (pathlib.Path(folder) / "devices").is_dir():
            return pathlib.Path(folder)
    raise Refused("the folder with the devices was not found", "set HESPAS_DATA_DIR", 1)


# --- options -------------------------------------------------------------------------------------------------------------------


def options():
    parser = argparse.ArgumentParser(prog="hespas export", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", help="FILE.py[:FUNCTION], or a ready configuration")
    parser.add_argument("--list", action="store_true", help="the ready configurations")
    parser.add_argument("--devices", type=int, help="devices of the mesh (default: as the axes say, else 1)")
    parser.add_argument("--axes", default="", help="mesh axes, the outermost first: data=2,fsdp=4")
    parser.add_argument("--arg", action="append", default=[], metavar="TYPE[SHAPE]@AXES", help="one argument of the function, in order")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                        help="parameter of the configuration; several values, KEY=1,2,3, make a sweep")
    parser.add_argument("--maxtext", action="store_true",
                        help="the program is a MaxText configuration (CONFIG.yml or a ready llama3-*); in an environment of its own")
    parser.add_argument("--target-devices", type=int, metavar="N",
                        help="with --maxtext: an equivalent program for N devices, with the attention kernels of GPUs or TPUs; no MaxText needed")
    parser.add_argument("--stage", action="append", choices=STAGES, help="what to write (default: both)")
    parser.add_argument("--target", action="append", default=[], help="device for which XLA optimises; a preset or file")
    parser.add_argument("--synchronous", action="store_true", help="optimised: collectives stay single operations, nothing is scheduled")
    parser.add_argument("--xla-flag", action="append", default=[], help="further XLA flag of the optimised stage")
    parser.add_argument("--name", help="first part of the files' names")
    parser.add_argument("--gzip", action="store_true", help="compress StableHLO files")
    parser.add_argument("--output", default=".", help="folder")
    return parser.parse_args()


def value_of(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return {"true": True, "false": False}.get(text.lower(), text)


def settings(given):
    """All combinations of the values of --set."""
    keys, values = [], []
    for each in given:
        key, separator, text = each.partition("=")
        if not separator or not key:
            raise Refused(f"--set takes KEY=VALUE, not `{each}`", status=2)
        keys.append(key)
        values.append([value_of(value) for value in text.split(",")])
    return [dict(zip(keys, row)) for row in itertools.product(*values)], [key for key, row in zip(keys, values) if len(row) > 1]


def mesh_axes(arguments, default):
    axes = []
    for each in filter(None, arguments.axes.split(",")):
        name, _, size = each.partition("=")
        if not name.isidentifier() or not size.isdigit() or int(size) < 1:
            raise Refused(f"--axes takes NAME=SIZE,..., not `{each}`", "for example --axes fsdp=4", 2)
        axes.append((name, int(size)))
    if not axes:
        axes = list(default.items())
        if arguments.devices and len(axes) == 1:
            axes = [(axes[0][0], arguments.devices)]
    total = math.prod(size for _, size in axes)
    if arguments.devices and arguments.devices != total:
        raise Refused(f"{arguments.devices} devices, but the axes have {total}", "the sizes of the axes multiply to the devices", 2)
    return axes, total


# --- stages --------------------------------------------------------------------------------------------------------------------


def run_lines(command):
    """Output lines of a program; what it said of a failure becomes ours, unless it is an error line already."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return done.stdout.splitlines()
    told = done.stderr.strip()
    if "error[" in told or "HESPAS_TRACEBACK" in os.environ:
        sys.stderr.write((told if "HESPAS_TRACEBACK" in os.environ else told[told.index("error["):]) + "\n")
        raise Refused("")
    reason = told.splitlines()[-1] if told else "it said nothing"
    if done.returncode < 0:
        reason = f"{pathlib.Path(command[1]).name} ended by signal {-done.returncode}: {reason}"
    raise Refused(reason, "HESPAS_TRACEBACK=1 shows more")


def describe(path, **about):
    """FILE.json beside FILE."""
    content = pathlib.Path(path).read_bytes()
    about = {"schema_version": 1, "file": pathlib.Path(path).name, "sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content),
             **about}
    pathlib.Path(f"{path}.json").write_text(json.dumps(about, indent=2) + "\n")
    print(path, flush=True)


def lower(python, request, about):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(request, file)
        file.flush()
        lines = run_lines([python, HERE / "lower.py", file.name])
    made = [json.loads(line) for line in lines]
    for each in made:
        path = each.pop("file")
        describe(path, **about, **each)
        each["file"] = path
    return made


def gpu_compiler(arguments, device, devices, work):
    """Command of the worker, what it is given, and which figures of that are guessed."""
    del devices
    text, guessed = targets.target_config(device)
    (work / "target.pbtxt").write_text(text)
    flags = [f"--flag={flag}" for flag in arguments.xla_flag]
    mode = ["--synchronous"] if arguments.synchronous else []
    return [environment("cuda"), HERE / "xla_gpu.py", "--target", work / "target.pbtxt", *mode, *flags], {"target_config": text, "guessed": guessed}


def tpu_compiler(arguments, device, devices, work):
    """The same for libtpu, which knows its devices itself."""
    del arguments
    topology = targets.tpu_topology(device, devices)
    (work / "topology.json").write_text(json.dumps(topology))
    return [environment("tpu"), HERE / "xla_tpu.py", "--topology", work / "topology.json"], {"topology": topology, "guessed": []}


def optimise(arguments, lowered, device, about, folder):
    compiler = tpu_compiler if targets.is_tpu(device) else gpu_compiler
    with tempfile.TemporaryDirectory(prefix="hespas-") as name:
        work = pathlib.Path(name)
        command, given = compiler(arguments, device, lowered["partitions"] * lowered["replicas"], work)
        run_lines([*command, lowered["file"], "--output", work])
        stem = f"{folder}/{lowered['program']}.{device['name']}"
        how = {**about, "program": lowered["program"], "partitions": lowered["partitions"], "replicas": lowered["replicas"],
               "target": device["name"], **given, "worker": json.loads((work / "worker.json").read_text())}
        for stage in ("partitioned", "optimised"):
            made = work / f"{stage}.hlo"
            if made.exists():
                pathlib.Path(f"{stem}.{stage}.hlo").write_text(without_folders(made.read_text()))
                describe(f"{stem}.{stage}.hlo", stage=stage, **how)


def without_folders(hlo):
    """Source files of metadata by their own names: folders say whose machine it was."""
    hlo = re.sub(r'(source_file=")[^"\n]*/', r"\1", hlo)
    return re.sub(r'^(\d+ ")[^"\n]*/([^"/\n]+")$', r"\1\2", hlo, flags=re.MULTILINE)  # newer XLA's table of files


def source_of(arguments, ready):
    """What the program is, for lower.py and for the files' descriptions; and what its files are called."""
    if arguments.maxtext and ready is not None:
        if not arguments.program.startswith("llama3-"):
            raise Refused(f"`{arguments.program}` is no model of MaxText", "--maxtext takes CONFIG.yml or one of the ready llama3-*", 2)
        return {"maxtext": True, "ready": arguments.program}, arguments.program + "-maxtext"
    if ready is not None:
        return {"maxtext": False, "ready": arguments.program}, arguments.program.removesuffix(".json")
    path, _, function = (arguments.program, "", "") if arguments.maxtext else arguments.program.partition(":")
    kinds = (".yml", ".yaml") if arguments.maxtext else (".py",)
    if not path.endswith(kinds):
        hint = "a MaxText configuration needs --maxtext" if path.endswith((".yml", ".yaml")) else "hespas export --list shows those"
        raise Refused(f"`{arguments.program}` is neither a {'YAML' if arguments.maxtext else 'Python'} file nor a ready configuration", hint, 2)
    if not pathlib.Path(path).is_file():
        raise Refused(f"there is no file `{path}`", status=1)
    like = {"like": True} if arguments.maxtext and arguments.target_devices else {}
    return {"maxtext": arguments.maxtext, "file": path, "function": function, **like}, pathlib.Path(path).stem + (f"-{function}" if function else "")


def requests(arguments, folder):
    """What lower.py is asked for, one a combination of parameters, with what the files' descriptions say of it."""
    import models

    own_name = pathlib.Path(arguments.program).stem
    is_configuration = arguments.program.endswith(".json")
    if is_configuration:  # a model's own
        arguments.set.append(f"model={pathlib.Path(arguments.program).resolve()}")
        arguments.program = models.CONFIGURATION
    ready = models.READY.get(arguments.program)
    source, usual_name = source_of(arguments, ready)
    axes, devices = [], arguments.target_devices
    if not devices:
        axes, devices = mesh_axes(arguments, ready.axes if ready else {"fsdp" if arguments.maxtext else "devices": arguments.devices or 1})
    elif not source.get("like"):
        raise Refused("--target-devices is of MaxText configurations", "give CONFIG.yml --maxtext", 2)
    rows, swept = settings(arguments.set)
    for parameters in rows:
        name = (arguments.name or (own_name if is_configuration else usual_name)) + "".join(f"-{key}{parameters[key]}" for key in swept) + f"-{devices}dev"
        request = {**source, "arguments": arguments.arg, "parameters": parameters, "axes": axes, "devices": devices, "name": name,
                   "stages": arguments.stage or list(STAGES), "output": str(folder), "gzip": arguments.gzip}
        if arguments.target and "lowered" not in request["stages"]:
            request["stages"] = ["lowered", *request["stages"]]
        about = {"source": {**source, "parameters": parameters, "arguments": arguments.arg}, "mesh": dict(axes), "devices": devices,
                 "command": ["hespas", "export", *sys.argv[1:]]}
        yield request, about


def show_list():
    import models

    shown = {name: ready for name, ready in models.READY.items() if ready.listed}
    width = max(map(len, shown))
    for name, ready in shown.items():
        print(f"{name:<{width}}  {','.join(f'{axis}={size}' for axis, size in ready.axes.items()):<10}  {ready.summary}")


def main():
    arguments = options()
    if arguments.list:
        return show_list()
    if not arguments.program:
        raise Refused("what is to be exported?", "give FILE.py:FUNCTION or a ready configuration (--list)", 2)
    devices = [targets.device_file(name, data_folder()) for name in arguments.target]
    for device in devices:  # better now than behind a long compilation
        if targets.is_tpu(device) and (arguments.synchronous or arguments.xla_flag):
            raise Refused("--synchronous and --xla-flag are of XLA's GPU compiler", f"leave them out for {device['name']}", 2)
    folder = pathlib.Path(arguments.output)
    folder.mkdir(parents=True, exist_ok=True)
    wanted = list(requests(arguments, folder))
    python = maxtext_python() if arguments.maxtext and not arguments.target_devices else jax_python()
    for request, about in wanted:
        made = lower(python, request, about)
        for lowered in made:
            for device in devices if lowered["stage"] == "lowered" else ():
                optimise(arguments, lowered, device, about, folder)


def guarded(program):
    """Runs `program` as a command: what it refuses becomes an error line and the exit status."""
    try:
        sys.exit(program())
    except Refused as error:
        if str(error):
            sys.stderr.write(f"error[E0957]: {error}\n" + (f"help: {error.help}\n" if error.help else ""))
        sys.exit(error.status)
    except ValueError as error:
        sys.stderr.write(f"error[E0957]: {error}\n")
        sys.exit(1)
    except BrokenPipeError:  # `hespas export --list | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        sys.stderr.write(f"error[E0957]: {error.filename}: {error.strerror}\n")
        sys.exit(1)


if __name__ == "__main__":
    guarded(main)
