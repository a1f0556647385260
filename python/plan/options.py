"""Options of `hespas plan`, and what their texts mean."""
import argparse
import os
import pathlib
import re
import sys

import clusters
import targets
from environments import Refused, suggested
from export import data_folder, value_of
from shard import Parser

DESCRIPTION = """`hespas plan`: which parallelism, pipeline schedule, rematerialisation and microbatch a training step should have on N devices.

    hespas plan llama3-70b --devices 512 --device H100_80GB --global-batch "4M tokens"
    hespas plan mine.yml --devices 64 --device TPUv5p --objective cost --price 4.2 --limit memory=90GB
    hespas plan step.py:train --axes data,tensor --devices 8 --device H100_80GB      a JAX function of yours: the axes of its mesh
    hespas plan llama2-7b --devices 16 --device A100_SXM_80GB --why "tensor=8,pipeline=2"

The model is MaxText's configuration, the name of a model that it knows, or a program as `hespas export` takes and writes it. XLA's partitioner makes the programs of each candidate, `hespas run`
estimates them. What follows `--` goes to `hespas run`.
"""
REMATS = "none,minimal_flash,full,minimal_offloaded"
SCHEDULES = "1f1b,interleaved-2,zb-h1"
NUMBER = r"\d+(?:\.\d*)?|\.\d+"
UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20}


def options(words):
    own, run_options = (words[:words.index("--")], words[words.index("--") + 1:]) if "--" in words else (words, [])
    parser = Parser(prog="hespas plan", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument("model", help="CONFIG.yml of MaxText, a model's name, FILE.py[:FUNCTION], or unpartitioned StableHLO")
    parser.add_argument("--arg", action="append", default=[], metavar="TYPE[SHAPE]@AXES", help="one argument of the function, as `hespas export` takes it")
    parser.add_argument("--devices", type=int, required=True, help="how many there are")
    parser.add_argument("--device", required=True, help="preset or file")
    parser.add_argument("--system", default="auto", help='network: auto (the vendor\'s), or a line such as "H100_80GB 8x64 ib=400Gbit/s"')
    parser.add_argument("--global-batch", default="", metavar="N", help='sequences of a step, or tokens: "4M tokens" (M is 2^20); default: as the configuration')
    parser.add_argument("--objective", choices=("tokens_per_s", "cost", "energy"), default="tokens_per_s")
    parser.add_argument("--limit", default="", metavar="memory=SIZE", help="bytes that a device may hold (default: its memory)")
    parser.add_argument("--price", type=float, default=0, help="of one device and hour (default: the device's)")
    parser.add_argument("--axes", help="which axes may be larger than 1; by default all: pipeline,data,fsdp,context,tensor,expert of models")
    parser.add_argument("--remat", default=REMATS, help="MaxText's policies to try")
    parser.add_argument("--schedule", default=SCHEDULES, help="pipeline schedules: gpipe, 1f1b, interleaved-CHUNKS, zb-h1, dualpipe")
    parser.add_argument("--uneven-stages", action="store_true", help="also stages that differ by a layer (gpipe and 1f1b)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the configuration; of a function's parameter, KEY=A,B tries both")
    parser.add_argument("--top", type=int, default=10, help="how many to show")
    parser.add_argument("--evaluations", type=int, default=100, help="most candidates that are estimated")
    parser.add_argument("--why", metavar="AXIS=SIZE,...", help="also the best with these settings, and what makes the difference")
    parser.add_argument("--sample", type=int, default=0, metavar="N",
                        help="also estimate N configurations picked at random among those that may be better than the best, or than that of --why")
    parser.add_argument("--format", choices=("table", "json"), default="table")
    parser.add_argument("--output", help="folder that keeps programs, commands and report.html; what is there is not made again")
    parser.add_argument("--on", metavar="ENGINE", help="where programs are made and estimated: ray, ray=ADDRESS or slurm (default: here)")
    parser.add_argument("--workers", type=int, default=8, help="processes on the cluster")
    parser.add_argument("--slurm-option", action="append", default=[], metavar="OPTION", help="for srun, such as --partition=long; repeatable")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress on stderr")
    arguments = parser.parse_args(own)
    arguments.run_options, arguments.capacity = run_options, memory_limit(arguments.limit)
    amount(arguments.global_batch)
    if arguments.devices < 2 or arguments.top < 1 or arguments.evaluations < 1 or arguments.sample < 0 or not 0 <= arguments.price < float("inf"):
        raise Refused("--devices is at least 2, --top and --evaluations at least 1, --sample and --price no less than 0", status=2)
    clusters.check(arguments)
    return arguments


def amount(text):
    """A number, and whether it counts tokens; None where nothing is said."""
    if not text:
        return None
    found = re.fullmatch(rf"\s*({NUMBER})\s*([kKmM]?)(?:i?)\s*(tokens|sequences)?\s*", text)
    if not found:
        raise Refused(f"--global-batch takes a number of sequences or of tokens, not `{text}`", 'for example --global-batch "4M tokens"', 2)
    return float(found.group(1)) * UNITS[found.group(2).lower()], found.group(3) == "tokens"


def sequences(text, sequence, keys, devices):
    """Sequences of a step."""
    if not text:
        return round(float(keys["per_device_batch_size"]) * devices * int(keys["gradient_accumulation_steps"]))
    number, tokens = amount(text)
    whole = number / sequence if tokens else number
    if whole < 1 or whole != int(whole):
        near = max(1, round(whole))
        raise Refused(f"{number:g} tokens are not a whole number of sequences of {sequence}", f"give {near} (sequences), which is {near * sequence} tokens", 2)
    return int(whole)


def listed(text, known, what):
    names = [name for name in text.split(",") if name]
    wrong = [name for name in names if name not in known]
    if wrong or not names:
        near = suggested(wrong[0], list(known)) if wrong else ""
        raise Refused(f"`{wrong[0] if wrong else ''}` is no {what}", f"{near}known are {', '.join(known)}", 2)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise Refused(f"{what} `{twice}` is named twice", "name each once", 2)
    return tuple(names)


def schedules_of(text):
    found = []
    for name in text.split(","):
        match = re.fullmatch(r"(gpipe|1f1b|zb-h1|dualpipe)|(interleaved)-([2-9]|\d\d+)", name)
        if not match:
            raise Refused(f"`{name}` is no schedule; known are gpipe, 1f1b, interleaved-CHUNKS, zb-h1 and dualpipe", status=2)
        found.append((match.group(1) or match.group(2), int(match.group(3) or 1)))
    return tuple(found)


def is_tpu(device):
    return targets.device_file(device, data_folder()).get("family") == "tpu"


def settings(arguments):
    """All keys of the configuration."""
    import maxtext_config
    from maxtext_models import MODELS

    given = dict(each.partition("=")[::2] for each in arguments.set)
    given = {key: value_of(value) for key, value in given.items()}
    warn_of_unread(given, {*maxtext_config.DEFAULTS, *(key for model in MODELS.values() for key in model)})
    if arguments.model in MODELS:
        hardware = "tpu" if is_tpu(arguments.device) else "gpu"
        return maxtext_config.settings(os.devnull, {"model_name": arguments.model, "hardware": hardware, "max_target_length": 4096,
                                                    "per_device_batch_size": 1, **given})
    if not pathlib.Path(arguments.model).is_file():
        raise Refused(f"`{arguments.model}` is neither a file nor a model's name", f"{suggested(arguments.model, list(MODELS))}names are {', '.join(MODELS)}", 1)
    return maxtext_config.settings(arguments.model, given)


def warn_of_unread(given, known):
    """MaxText has more keys than the model reads; one that is nearly spelt like one that it reads is a slip."""
    for key in given:
        near = "" if key in known or key.startswith(("ici_", "dcn_")) else suggested(key, known, 0.85)
        if near:
            sys.stderr.write(f"warning: the model reads no key `{key}`; {near.strip()}\n")


def memory_limit(text):
    if not text:
        return None
    found = re.fullmatch(rf"memory=({NUMBER})\s*(GB|GiB|MB|MiB)", text)
    if not found or not float(found.group(1)):
        raise Refused(f"--limit takes memory=SIZE, which is more than nothing, not `{text}`", "for example --limit memory=72GB", 2)
    return float(found.group(1)) * {"GB": 1e9, "GiB": 1 << 30, "MB": 1e6, "MiB": 1 << 20}[found.group(2)]
