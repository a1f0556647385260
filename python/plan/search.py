"""Branch and bound over candidates: the likely ones first, those that no estimate could bring among the best left out, each count told.

The order and the answer depend on the problem alone, not on how fast the workers are: candidates are estimated in waves of fixed size.
"""
import asyncio
import collections
import dataclasses

import bounds
import costs
import floors

SAME = 0.999  # flags that save less are left out
WAVE = 6  # groups of candidates that are estimated together
FLOORS = 2  # most lower bounds from programs, as a multiple of the estimates; each takes a fifth of one's time
OBJECTIVES = {"tokens_per_s": "step_time_s", "cost": "cost", "energy": "energy_j"}


class Search:
    def __init__(self, problem, found, options, kept):
        self.problem, self.options, self.kept = problem, options, kept
        self.funnel = collections.Counter()
        self.answers, self.rows, self.failed, self.seen = {}, [], [], set()
        self.ratios, self.floors = {}, {}
        self.waiting = []
        for candidate in found:
            if bounds.state(problem, candidate) > problem.capacity:
                self.funnel["weights and optimiser state do not fit"] += 1
            elif candidate.stages > 1 and problem.network.of(problem.network.devices // candidate.stages) is None:
                self.funnel["the network cannot be divided by stages"] += 1
            else:
                self.waiting.append(candidate)
        self.guesses = {candidate: self.guess(candidate) for candidate in self.waiting}

    def guess(self, candidate):
        """Whether it will hardly fit, and its likely time."""
        over = bounds.expected_memory(self.problem, candidate, self.kept) > self.problem.capacity
        return over, bounds.expected(self.problem, candidate)

    def kind(self, candidate):
        """Candidates that compute alike: what one of them took tells of the others."""
        return (candidate.of["context"], candidate.of["tensor"], candidate.of["expert"], candidate.stages, candidate.remat, candidate.microbatch)

    def order(self, candidate):
        over, time = self.guesses[candidate]
        kind = self.kind(candidate)
        ratio = next((self.ratios[key] for key in (kind, kind[:3], kind[:1]) if key in self.ratios), 1.0)
        return over, max(time * ratio, self.bound(candidate))

    def wave(self):
        """The likeliest of different kinds, each with all its schedules, as these share programs."""
        groups, kinds = {}, set()
        for candidate in sorted(self.waiting, key=self.order):
            group = candidate.sizes, candidate.outer, candidate.microbatch, candidate.remat, candidate.zero
            if group in groups:
                groups[group].append(candidate)
            elif len(groups) < WAVE and self.kind(candidate) not in kinds:
                kinds.add(self.kind(candidate))
                groups[group] = [candidate]
        found = [candidate for group in groups.values() for candidate in group]
        return found[:self.options.evaluations - self.funnel["estimated"]]

    @property
    def objective(self):
        return OBJECTIVES[self.options.objective]

    @property
    def best(self):
        fitting = [row for row in self.rows if row["fits"]]
        return sorted(fitting, key=lambda row: (row[self.objective], row["name"]))

    def bound(self, candidate):
        own = bounds.time(self.problem, candidate)
        figures = self.floors.get(floors.kind(candidate)) if not candidate.flags else None
        return max(own, floors.time(self.problem, candidate, figures)) if figures else own

    def least(self, candidate):
        """The objective that the candidate cannot be below."""
        time = self.bound(candidate)
        if self.options.objective == "cost":
            return time * self.problem.network.devices * self.problem.price / 3600
        return time if self.options.objective == "tokens_per_s" else 0.0

    def faster(self, row):
        """How many configurations are better than a row, and how many more their lower bounds let be so."""
        known = sum(other[self.objective] < row[self.objective] for other in self.best)
        return known, sum(self.least(candidate) < row[self.objective] for candidate in self.waiting if candidate not in self.seen)

    def prune(self):
        """Drops what cannot come among the best, and larger microbatches of what did not fit."""
        best = self.best
        limit = best[self.options.top - 1][self.objective] if len(best) >= self.options.top else float("inf")
        too_large = {}
        for row in self.rows:
            if not row["fits"]:
                alike = without_microbatch(row["candidate"])
                too_large[alike] = min(too_large.get(alike, 1 << 62), row["candidate"].microbatch)
        left = []
        for candidate in self.waiting:
            if candidate in self.seen:
                continue
            if self.least(candidate) > limit:
                self.funnel["cannot be among the best by its lower bound"] += 1
            elif candidate.microbatch > too_large.get(without_microbatch(candidate), 1 << 62):
                self.funnel["a smaller microbatch does not fit already"] += 1
            else:
                left.append(candidate)
        self.waiting = left

    async def run(self, workers, told):
        while self.waiting and self.funnel["estimated"] < self.options.evaluations:
            await self.estimate(workers, self.wave())
            await self.floor(workers)
            self.prune()
            told(self)
        while len(self.floors) < FLOORS * self.options.evaluations and await self.floor(workers):
            self.prune()
            told(self)
        self.funnel["not visited"] = len(self.waiting)

    async def floor(self, workers):
        """Lower bounds from programs for those layers that most of the waiting candidates have."""
        alike = {}
        for candidate in self.waiting:
            if candidate not in self.seen:
                alike.setdefault(floors.kind(candidate), []).append(candidate)
        new = sorted((kind for kind in alike if kind not in self.floors), key=lambda kind: (-len(alike[kind]), kind))[:2 * WAVE]
        wanted = {kind: floors.request(self.problem, alike[kind][0]) for kind in new}
        asked = {kind: request for kind, request in wanted.items() if request}
        self.floors |= dict.fromkeys(new)
        for kind, answer in zip(asked, await asyncio.gather(*(workers.ask(self.asked(request)) for request in asked.values()))):
            self.floors[kind] = answer.get("figures")
        return bool(new)

    async def visit(self, workers, alike, most):
        """Estimates the likeliest of some candidates, the answer to a question beside the search."""
        alike = sorted((candidate for candidate in alike if candidate in self.guesses and candidate not in self.seen), key=self.order)
        for at in range(0, min(most, len(alike)), WAVE):
            await self.estimate(workers, alike[at:min(most, at + WAVE)])

    async def polish(self, workers):
        """The best again with XLA's flags, for which no program has to be made."""
        best = [row["candidate"] for row in self.best[:self.options.top] if not row["candidate"].flags]
        again = [dataclasses.replace(candidate, flags=flags) for candidate in best for flags in costs.FLAGS]
        self.guesses |= {candidate: self.guess(candidate) for candidate in again}
        await self.estimate(workers, again)
        plain = {row["candidate"]: row[self.objective] for row in self.rows}
        self.rows = [row for row in self.rows if not row["candidate"].flags or
                     row[self.objective] < SAME * plain[dataclasses.replace(row["candidate"], flags="")]]

    async def estimate(self, workers, wave):
        wanted = [costs.requests(self.problem, candidate) for candidate in wave]
        new = list(dict.fromkeys(each for found in wanted for each in found.values() if each not in self.answers))
        for each, answer in zip(new, await asyncio.gather(*(workers.ask(self.asked(each)) for each in new))):
            self.answers[each] = answer
        for candidate, found in zip(wave, wanted):
            self.take(candidate, {part: self.answers[each] for part, each in found.items()})

    def asked(self, request):
        return request.asked(self.options.programs, self.options.device, self.options.run_options)

    def take(self, candidate, answers):
        self.funnel["estimated"] += 1
        self.seen.add(candidate)
        error = next((answer["error"] for answer in answers.values() if "error" in answer), None)
        if error:
            self.failed.append((candidate, error))
            self.funnel["failed"] += 1
            return
        row = costs.figures(self.problem, candidate, {part: answer["figures"] for part, answer in answers.items()})
        self.rows.append({"name": str(candidate), "candidate": candidate, "microbatches": candidate.microbatches,
                          "state_bytes": bounds.state(self.problem, candidate), **row})
        if not row["fits"]:
            self.funnel["estimated, but does not fit"] += 1
        kind = self.kind(candidate)
        ratio = row["step_time_s"] / self.guesses[candidate][1]
        for key in (kind, kind[:3], kind[:1]):
            self.ratios[key] = min(self.ratios.get(key, float("inf")), ratio)


def without_microbatch(candidate):
    return candidate.sizes, candidate.outer, candidate.remat, candidate.zero, candidate.schedule, candidate.chunks
