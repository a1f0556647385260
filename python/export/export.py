#!/usr/bin/env python3
"""`hespas export`: programs from JAX on a machine without accelerators.

    hespas export step.py:train --devices 4 --axes fsdp=4 --arg 'bf16[1024,4096]@fsdp,-' --output out
    hespas export llama3-100m --output out                              a ready configuration (--list)
    hespas export resnet50 --target A100_SXM_40GB --target H200_141GB   XLA's GPU compiler, without a GPU

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
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]  # the source tree, or share/ of the package
sys.path.insert(0, str(HERE))
STAGES = ("lowered", "partitioned")

import targets  # noqa: E402


class Refused(Exception):
    def __init__(self, message, help_text="", status=5):
        super().__init__(message)
        self.help, self.status = help_text, status


def data_folder():
    for folder in (os.environ.get("HESPAS_DATA_DIR"), ROOT / "data", ROOT / "hespas"):
        if folder and (pathlib.Path(folder) / "devices").is_dir():
            return pathlib.Path(folder)
    raise Refused("the folder with the devices was not found", "set HESPAS_DATA_DIR", 1)


def environment(name, python=None):
    """The Python of a locked environment; made on the first call, outside the tree."""
    variables = {**os.environ, "HESPAS_PYTHON": python or sys.executable}
    made = subprocess.run([ROOT / "scripts" / "python_env.sh", name], stdout=subprocess.PIPE, text=True, env=variables, check=False)
    if made.returncode != 0:
        raise Refused(f"the Python environment `{name}` could not be made (its packages come from PyPI)", "see the messages above")
    return made.stdout.strip()


def jax_python():
    """The interpreter that lowers: this one where [export] is installed, else the locked environment of it."""
    wanted = next(line.strip() for line in (ROOT / "python/locks/export.in").read_text().splitlines() if line.startswith("jax=="))
    probe = "import importlib.metadata as m, sys; sys.exit(m.version('jax') != sys.argv[1])"
    found = subprocess.run([sys.executable, "-c", probe, wanted.split("==")[1]], capture_output=True, check=False)
    return sys.executable if found.returncode == 0 else environment("export")


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
    parser.add_argument("--stage", action="append", choices=STAGES, help="what to write (default: both)")
    parser.add_argument("--target", action="append", default=[], help="device for which XLA's GPU compiler optimises; a preset or file")
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


def run_lines(command, **more):
    """Output lines of a program whose messages go to our stderr; a failure has been told there."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, check=False, **more)
    if done.returncode != 0:
        raise Refused("", status=5)
    return done.stdout.splitlines()


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


def optimise(arguments, lowered, device, about, folder):
    text, guessed = targets.target_config(device)
    worker = environment("cuda")
    with tempfile.TemporaryDirectory(prefix="hespas-") as work:
        target = pathlib.Path(work) / "target.pbtxt"
        target.write_text(text)
        flags = [word for flag in arguments.xla_flag for word in ("--flag", flag)]
        mode = ["--synchronous"] if arguments.synchronous else []
        run_lines([worker, HERE / "xla_gpu.py", lowered["file"], "--target", target, "--output", work, *mode, *flags])
        stem = f"{folder}/{lowered['program']}.{device['name']}"
        how = {**about, "program": lowered["program"], "partitions": lowered["partitions"], "replicas": lowered["replicas"],
               "target": device["name"], "guessed": guessed, "target_config": text, "worker": json.loads((pathlib.Path(work) / "worker.json").read_text())}
        for stage in ("partitioned", "optimised"):
            made = pathlib.Path(work) / f"{stage}.hlo"
            if made.exists():
                shutil.copyfile(made, f"{stem}.{stage}.hlo")
                describe(f"{stem}.{stage}.hlo", stage=stage, **how)


def requests(arguments, folder):
    """What lower.py is asked for, one a combination of parameters, with what the files' descriptions say of it."""
    import models

    ready = models.READY.get(arguments.program)
    path, _, function = arguments.program.partition(":")
    if ready is None and not path.endswith(".py"):
        raise Refused(f"`{arguments.program}` is neither a Python file nor a ready configuration", "hespas export --list shows those", 2)
    if ready is None and not pathlib.Path(path).is_file():
        raise Refused(f"there is no file `{path}`", status=1)
    axes, devices = mesh_axes(arguments, ready.axes if ready else {"devices": arguments.devices or 1})
    rows, swept = settings(arguments.set)
    for parameters in rows:
        name = arguments.name or (arguments.program if ready else pathlib.Path(path).stem + (f"-{function}" if function else ""))
        name += "".join(f"-{key}{parameters[key]}" for key in swept) + f"-{devices}dev"
        source = {"ready": arguments.program} if ready else {"file": path, "function": function}
        request = {**source, "arguments": arguments.arg, "parameters": parameters, "axes": axes, "devices": devices, "name": name,
                   "stages": arguments.stage or list(STAGES), "output": str(folder), "gzip": arguments.gzip}
        if arguments.target and "lowered" not in request["stages"]:
            request["stages"] = ["lowered", *request["stages"]]
        about = {"source": {**source, "parameters": parameters, "arguments": arguments.arg}, "mesh": dict(axes), "devices": devices,
                 "command": ["hespas", "export", *sys.argv[1:]], "python": sys.version.split()[0]}
        yield request, about


def show_list():
    import models

    width = max(map(len, models.READY))
    for name, ready in models.READY.items():
        print(f"{name:<{width}}  {','.join(f'{axis}={size}' for axis, size in ready.axes.items()):<10}  {ready.summary}")


def main():
    arguments = options()
    if arguments.list:
        return show_list()
    if not arguments.program:
        raise Refused("what is to be exported?", "give FILE.py:FUNCTION or a ready configuration (--list)", 2)
    devices = [targets.device_file(name, data_folder()) for name in arguments.target]
    for device in devices:
        targets.capability(device)  # better now than behind a long compilation
    folder = pathlib.Path(arguments.output)
    folder.mkdir(parents=True, exist_ok=True)
    python = jax_python()
    for request, about in requests(arguments, folder):
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


if __name__ == "__main__":
    guarded(main)
