#!/usr/bin/env python3
"""`hespas plan`: the command; its options are described in options.py."""
import asyncio
import os
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "export")]

from environments import INSIDE, jax_python  # noqa: E402
from export import guarded  # noqa: E402
from options import options  # noqa: E402


def main(words):
    import own_program
    import planning

    arguments = options(words)
    if arguments.output:
        pathlib.Path(arguments.output, "programs").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".hespas-", dir=arguments.output, ignore_cleanup_errors=True) as scratch:
        arguments.programs = pathlib.Path(arguments.output, "programs") if arguments.output else pathlib.Path(scratch)
        try:
            if own_program.is_own(arguments.model):
                return own_program.planned(arguments, scratch)
            return asyncio.run(planning.planned(arguments, scratch))
        except asyncio.CancelledError:
            sys.stderr.write("interrupted\n")
            return 130


def start():
    """Continues in the environment that has JAX, which is made where it is missing."""
    words = sys.argv[1:]
    if words[:1] == [INSIDE]:
        return main(words[1:])
    options(words)  # better now than behind the making of an environment
    python = jax_python()
    os.execv(python, [python, __file__, INSIDE, *words])


if __name__ == "__main__":
    guarded(start)
