"""Workers of a plan on a cluster, by the engines of `hespas sweep`: each is a job step of Slurm, or an actor of Ray, that answers line by line."""
import pathlib
import shutil

from environments import Refused, environment

SWEEP = pathlib.Path(__file__).resolve().parents[1] / "sweep"


def check(arguments):
    where, _, address = (arguments.on or "").partition("=")
    if where not in ("", "ray", "slurm") or (where == "slurm" and address):
        raise Refused(f"there is no engine `{arguments.on}`", "--on takes ray, ray=ADDRESS or slurm", 2)
    if where and not arguments.output:
        raise Refused("--on needs --output", "name a folder that all workers see", 2)
    if arguments.workers < 1:
        raise Refused("--workers is at least 1", status=2)
    if where == "slurm" and not shutil.which("srun"):
        raise Refused("`srun` is not installed", "apt install slurm-client, or run where Slurm is")


def command(arguments, own):
    """What starts a worker there; `own` starts one here."""
    where, _, address = (arguments.on or "").partition("=")
    if where == "slurm":
        return ["srun", "--quiet", "--ntasks=1", "--job-name=hespas-plan", "--unbuffered", *arguments.slurm_option, *own]
    return [environment("sweep"), SWEEP / "lines_on_ray.py", address, *own] if where == "ray" else own
