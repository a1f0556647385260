"""`hespas sweep FILE --search ...`: the best point without trying all, by Optuna.

exhaustive   tries every point
halving      successive halving: cheap stand-ins of every trial, the best third of them on the network, the best third of those as they are
bayesian     tries where earlier points were good (tree-structured Parzen estimators)

Every figure that is told comes from the point itself, as `hespas run` has it. Points that fail, do not pass the filter or break a constraint
count as infinitely bad. The answer says how much was not tried.
"""
import json
import math
import subprocess
import sys

import optuna

import chunks
from environments import Refused

BATCH = 8   # points that are tried at a time
THIRD = 3   # one of so many goes on to the next rung
RUNGS = ({"estimator": "roofline", "optimise": "none", "network_backend": "none"}, {"estimator": "roofline", "optimise": "none"})  # where they do not vary
LAST = len(RUNGS)  # the points themselves


class Space:
    """The dimensions of a sweep file: axes that are zipped move together."""

    def __init__(self, described):
        self.described, self.axes = described, described["axes"]
        zipped = {axis for group in described["zip"] for axis in group}
        self.dimensions = [list(group) for group in described["zip"]] + [[i] for i in range(len(self.axes)) if i not in zipped]
        self.total = None if any("range" in axis for axis in self.axes) else described["points"]

    def ask(self, trial):
        """Values of one point, by axis."""
        values = {}
        for group in self.dimensions:
            first = self.axes[group[0]]
            if "range" in first:
                ends = first["range"]
                number = trial.suggest_float(first["name"], ends["from"], ends["to"], log=ends["log"])
                values[first["name"]] = f"{number:.12g} {ends['unit']}" if ends["unit"] else number
                continue
            at = trial.suggest_categorical(first["name"], list(range(len(first["values"]))))
            values |= {self.axes[axis]["name"]: self.axes[axis]["values"][at] for axis in group}
        return values


class Tester:
    """Runs points, each once, in batches."""

    def __init__(self, described, conditions):
        self.described, self.conditions = described, conditions
        self.known = {}

    def test(self, points, rung=LAST):
        """The goal's value of each point; infinite for those that do not count."""
        keys = [json.dumps([rung, point]) for point in points]
        fresh = list({key: point for key, point in zip(keys, points) if key not in self.known}.items())
        for at in range(0, len(fresh), BATCH * BATCH):
            some = fresh[at:at + BATCH * BATCH]
            for (key, _), row in zip(some, self.rows([point for _, point in some], rung)):
                self.known[key] = row
        return [self.known[key][self.described["minimise"]] if self.known[key] else math.inf for key in keys]

    def rows(self, points, rung):
        """By a sweep of nothing but these points; None for those that do not count."""
        names = list(points[0])
        base = dict(self.described["base"])
        if rung < LAST:
            base |= {key: value for key, value in RUNGS[rung].items() if key not in names}
        file = {"base": base, "axes": {name: [point[name] for point in points] for name in names}, "zip": names,
                "filter": self.described["filter"], "constraints": self.conditions if rung == LAST else [], "prices": self.described["prices"]}
        if self.described["tokens"]:
            file["tokens"] = self.described["tokens"]
        done = subprocess.run([chunks.COMMAND, "sweep", "-", "--quiet", "--feasible", "--format", "jsonl"], input=json.dumps(file),
                              capture_output=True, text=True, check=False)
        if done.returncode != 0 and "E0966" not in done.stderr:  # where no point passes the filter
            raise Refused(done.stderr.strip(), status=done.returncode)
        rows = {row["point"]: row for row in map(json.loads, done.stdout.splitlines())}
        return [rows.get(i) for i in range(len(points))]

    def best(self):
        rows = [row for key, row in self.known.items() if row and json.loads(key)[0] == LAST]
        return min(rows, key=lambda row: row[self.described["minimise"]], default=None)

    def tried(self):
        return sum(json.loads(key)[0] == LAST for key in self.known)


def exhaustive(space, tester, arguments):
    if space.total is None:
        raise Refused("a range without steps has no end of points", "give `steps`, or search in another way", 2)
    done = subprocess.run([chunks.COMMAND, "sweep", arguments.file, "--quiet", "--feasible", "--format", "jsonl",
                           *(word for condition in arguments.subject_to for word in ("--subject-to", condition))],
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise Refused("the points could not be run", status=done.returncode)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return min(rows, key=lambda row: row[tester.described["minimise"]], default=None), space.total


def draw(study, space, count):
    trials = [study.ask() for _ in range(count)]
    return trials, [space.ask(trial) for trial in trials]


def halving(space, tester, arguments):
    study = optuna.create_study(sampler=optuna.samplers.QMCSampler(seed=arguments.seed))
    _, points = draw(study, space, arguments.trials)
    points = list({json.dumps(point): point for point in points}.values())
    for rung in range(LAST):
        values = tester.test(points, rung)
        order = sorted(range(len(points)), key=lambda i: values[i])
        points = [points[i] for i in order[:max(1, len(points) // THIRD)]]
    tester.test(points)
    return tester.best(), tester.tried()


def bayesian(space, tester, arguments):
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=arguments.seed, multivariate=True, constant_liar=True))
    asked = 0
    while asked < arguments.trials:
        trials, points = draw(study, space, min(BATCH, arguments.trials - asked))
        asked += len(trials)
        for trial, value in zip(trials, tester.test(points)):
            study.tell(trial, value if math.isfinite(value) else sys.float_info.max)
    return tester.best(), tester.tried()


def main(arguments, more):
    goals = [word for condition in arguments.subject_to for word in ("--subject-to", condition)]
    if arguments.minimise:
        goals += ["--minimise", arguments.minimise]
    done = subprocess.run([chunks.COMMAND, "sweep", arguments.file, *more, *goals, "--describe"], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        return done.returncode
    if arguments.trials < 1:
        raise Refused("--trials is at least 1", status=2)
    described = json.loads(done.stdout)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    space = Space(described)
    best, tried = {"exhaustive": exhaustive, "halving": halving, "bayesian": bayesian}[arguments.search](
        space, Tester(described, described["constraints"]), arguments)
    return tell(arguments, described, best, tried, space.total)


def tell(arguments, described, best, tried, total):
    goal = described["minimise"]
    result = {"search": arguments.search, "minimise": goal, "constraints": described["constraints"], "tried": tried, "points": total,
              "not_tried": None if total is None else max(0, total - tried), "best": best}
    if arguments.format == "json":
        print(json.dumps(result, indent=2))
        return 0
    many = "" if total is None else f" of {total}; {result['not_tried']} were not tried"
    print(f"{arguments.search}: {tried} points tried{many}")
    if best is None:
        print("no tried point satisfies the constraints")
        return 0
    print(f"least {goal}: {best[goal]}")
    for axis in described["axes"]:
        print(f"  {axis['name']}: {best[axis['name']]}")
    return 0

