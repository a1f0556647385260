"""Branch and bound over candidates: the likely ones first, those that no estimate could bring among the best left out, each count told.

A candidate's bound comes from the model's facts first, then from a coarse and from a fine program (floors.py), of which many have the same. What is
likely is judged by the closest of these, so that nothing is estimated before its fine program is known. The order and the answer depend on the problem alone, not on how fast the workers are: candidates are estimated in waves of fixed size.
"""
import asyncio
import collections
import contextlib
import dataclasses
import heapq

import bounds
import costs
import floors
import options

SAME = 0.999  # flags that save less are left out
WAVE = 6  # groups of candidates that are estimated together
OPTIMISM = {None: 0.8, floors.COARSE: 0.95, floors.FINE: 1.0}  # of a guess, by the closest program that it rests on
FLOORS = 4  # most programs for lower bounds, as a multiple of the estimates; each takes a fifth of one's time
NOT_VISITED, SLOWER = "not visited", "cannot be among the best by its lower bound"
UNDIVIDED = "the network cannot be divided by stages"  # so that no program has a network; one that --system gives as a line can
OBJECTIVES = {"tokens_per_s": "step_time_s", "cost": "cost", "energy": "energy_j"}


class Search:
    def __init__(self, problem, found, options):
        self.problem, self.options = problem, options
        self.answers, self.rows, self.failed, self.floors = {}, [], [], {}
        self.reasons = {candidate: self.hindrance(candidate) or NOT_VISITED for candidate in found}  # what became of each
        self.waiting = [candidate for candidate, reason in self.reasons.items() if reason == NOT_VISITED]
        self.bounds, self.orders, self.alike, self.groups = {}, {}, collections.defaultdict(list), collections.defaultdict(list)
        self.likely = []  # heap of those that wait; entries whose order has changed since are passed over
        for candidate in self.waiting:
            self.enter(candidate)

    def hindrance(self, candidate):
        """Why it cannot run whatever it takes; None: nothing is known against it."""
        if bounds.state(self.problem, candidate) > self.problem.capacity:
            return "weights and optimiser state do not fit"
        if bounds.memory(self.problem, candidate) > self.problem.capacity:
            return "what the backward pass needs does not fit"
        return UNDIVIDED if candidate.stages > 1 and not costs.systems(self.problem, candidate) else None

    @property
    def funnel(self):
        """How many candidates left for which reason, and how many were estimated."""
        return collections.Counter(self.reasons.values())

    def enter(self, candidate):
        for level in floors.LEVELS if not candidate.varied else ():  # which may hide what the programs wait for
            self.alike[level, floors.kind(candidate, level)].append(candidate)
        self.groups[group_of(candidate)].append(candidate)
        over = bounds.expected_memory(self.problem, candidate) > self.problem.capacity
        self.bounds[candidate] = self.bound(candidate)
        self.order(candidate, (over, max(self.bounds[candidate], OPTIMISM[None] * bounds.expected(self.problem, candidate)), candidate.name))

    def bound(self, candidate):
        """From facts. With XLA's flags it computes what the known programs do, which it is not among; ring attention has other kernels."""
        levels = [level for level in floors.LEVELS if floors.holds(self.problem, candidate, level)] if candidate.flags and not candidate.ring else []
        keys = [(level, floors.kind(candidate, level)) for level in levels]
        known = (floors.time(self.problem, candidate, key[0], self.floors[key], hidden=True) for key in keys if self.floors.get(key))
        return max((bounds.time(self.problem, candidate), *known))

    def order(self, candidate, order):
        self.orders[candidate] = order
        heapq.heappush(self.likely, (order, candidate))

    def learn(self, key, figures):
        """What a program says of all candidates of its kind."""
        self.floors[key] = figures
        level = key[0]
        for candidate in self.alike[key] if figures else ():
            if floors.holds(self.problem, candidate, level):
                self.bounds[candidate] = max(self.bounds[candidate], floors.time(self.problem, candidate, level, figures))
            guess = floors.time(self.problem, candidate, level, figures, guess=True) + bounds.beside(self.problem, candidate, level == floors.FINE)
            over, _, name = self.orders[candidate]
            self.order(candidate, (over, max(self.bounds[candidate], OPTIMISM[level] * guess), name))

    def kind(self, candidate):
        """Candidates that compute alike."""
        return (candidate.of["context"], candidate.of["tensor"], candidate.of["expert"], candidate.stages, candidate.remat, candidate.microbatch)

    def ordered(self, candidates):
        """The likeliest first. Of all those that wait few are looked at, so that these are not sorted."""
        if candidates is not self.waiting:
            yield from sorted(candidates, key=self.orders.__getitem__)
            return
        passed = []
        try:
            while self.likely:
                entry = heapq.heappop(self.likely)
                order, candidate = entry
                if self.reasons.get(candidate) == NOT_VISITED and self.orders[candidate] is order:
                    passed.append(entry)
                    yield candidate
        finally:
            for entry in passed:
                heapq.heappush(self.likely, entry)

    def wave(self, candidates, most):
        """The likeliest of different kinds, each with all its schedules, as these share programs."""
        groups, kinds = {}, set()
        with contextlib.closing(self.ordered(candidates)) as ordered:
            for candidate in ordered:
                if group_of(candidate) not in groups and self.kind(candidate) not in kinds:
                    kinds.add(self.kind(candidate))
                    groups[group_of(candidate)] = None
                if len(groups) == WAVE:
                    break
        among = None if candidates is self.waiting else set(candidates)
        found = (sorted((each for each in self.groups[group] if (self.reasons.get(each) == NOT_VISITED if among is None else each in among)), key=self.orders.__getitem__)
                 for group in groups)
        return [candidate for group in found for candidate in group][:most]

    @property
    def objective(self):
        return OBJECTIVES[self.options.objective]

    @property
    def best(self):
        fitting = [row for row in self.rows if row["fits"]]
        return sorted(fitting, key=lambda row: (row[self.objective], row["name"]))

    def least(self, candidate):
        """The objective that the candidate cannot be below."""
        time = self.bounds[candidate]
        if self.options.objective == "cost":
            return time * self.problem.network.devices * self.problem.price / 3600
        return time if self.options.objective == "tokens_per_s" else 0.0

    def open(self, row):
        """The configurations that were not estimated and that their lower bounds let be better than a row, with XLA's flags and ring attention or without."""
        left = [candidate for candidate, reason in self.reasons.items() if reason in (NOT_VISITED, SLOWER)]
        for candidate in left:
            for other in self.variants(candidate):
                self.bounds[other] = self.bound(other)
        return [candidate for candidate in left if min(map(self.least, (candidate, *self.variants(candidate)))) < row[self.objective]]

    def better(self, row):
        """The best row of each configuration that beats a row."""
        found = {}
        for other in self.best:
            found.setdefault(costs.plain(other["candidate"]), other)
        return [other for other in found.values() if other[self.objective] < row[self.objective]]

    def variants(self, candidate):
        """The candidate with flags of XLA's, which GPUs have, and with ring attention."""
        return costs.variants(candidate, () if options.is_tpu(self.options.device) else costs.FLAGS, self.problem.rings)

    def prune(self):
        """Drops what cannot come among the best, and larger microbatches of what did not fit."""
        best = self.best
        limit = best[self.options.top - 1][self.objective] if len(best) >= self.options.top else float("inf")
        too_large = {}
        for row in self.rows:
            if not row["fits"]:
                alike = without_microbatch(row["candidate"])
                too_large[alike] = min(too_large.get(alike, 1 << 62), row["candidate"].microbatch)
        for candidate in self.waiting:
            if self.reasons[candidate] != NOT_VISITED:
                continue
            if self.least(candidate) > limit:
                self.reasons[candidate] = SLOWER
            elif too_large and candidate.microbatch > too_large.get(without_microbatch(candidate), 1 << 62):
                self.reasons[candidate] = "a smaller microbatch does not fit already"
        self.waiting = [candidate for candidate in self.waiting if self.reasons[candidate] == NOT_VISITED]

    async def look(self, workers, candidates, most):
        """Estimates the likeliest of some candidates, with a fine program of each before."""
        wave = self.wave(candidates, most)
        while await self.floor(workers, wave):
            wave = self.wave(candidates, most)
        await self.estimate(workers, wave)

    async def run(self, workers, told):
        while self.waiting and len(self.rows) + len(self.failed) < self.options.evaluations:
            await self.look(workers, self.waiting, self.options.evaluations - len(self.rows) - len(self.failed))
            self.prune()
            told(self)
        lowest = [(self.least(candidate), candidate.name, candidate) for candidate in self.waiting]
        heapq.heapify(lowest)
        while len(self.floors) < FLOORS * self.options.evaluations and await self.floor(workers, self.promising(lowest)):
            self.prune()
            told(self)

    def promising(self, lowest):
        """Some of a heap of those that wait, where closer bounds would say most: those whose bound is lowest."""
        found, keys = [], set()
        while lowest and len(keys) < WAVE:
            known, name, candidate = heapq.heappop(lowest)
            if self.reasons[candidate] != NOT_VISITED or self.next_floor(candidate) in self.floors:
                continue
            least = self.least(candidate)
            if least > known:  # bounds do but grow
                heapq.heappush(lowest, (least, name, candidate))
                continue
            found.append((known, name, candidate))
            keys.add(self.next_floor(candidate))
        for entry in found:
            heapq.heappush(lowest, entry)
        return [candidate for *_, candidate in found]

    def next_floor(self, candidate):
        """The program that would say more of it."""
        level = floors.FINE if (floors.COARSE, floors.kind(candidate, floors.COARSE)) in self.floors else floors.COARSE
        return level, floors.kind(candidate, level)

    async def floor(self, workers, candidates):
        """Programs for closer bounds of the first of some candidates that lack one; whether there were any."""
        new = {}
        for candidate in candidates:
            key = self.next_floor(candidate)
            if key not in self.floors and len(new) < WAVE:
                new.setdefault(key, candidate)
        wanted = {key: floors.request(self.problem, candidate, key[0]) for key, candidate in new.items()}
        asked = {key: request for key, request in wanted.items() if request}
        self.floors |= dict.fromkeys(new)  # also of those that have none
        for key, answer in zip(asked, await asyncio.gather(*(workers.ask(self.asked(request)) for request in asked.values()))):
            self.learn(key, answer.get("figures"))
        return bool(new)

    async def visit(self, workers, alike):
        """Estimates the likeliest of some candidates, the answer to a question beside the search: also of those that were left out."""
        for candidate in alike:
            if candidate not in self.orders:
                self.enter(candidate)
        able = [candidate for candidate in alike if self.reasons[candidate] in (NOT_VISITED, SLOWER)]
        able = able or [candidate for candidate in alike if self.reasons[candidate] != UNDIVIDED]
        if able:
            await self.look(workers, able, WAVE)

    async def polish(self, workers):
        """The best again with XLA's flags and ring attention."""
        await self.vary(workers, [row["candidate"] for row in self.best[:self.options.top]])

    async def vary(self, workers, candidates):
        """Those that were estimated again with XLA's flags, for which no program has to be made, and with ring attention."""
        known = {row["candidate"] for row in self.rows}
        again = [other for candidate in candidates if candidate in known and not candidate.varied for other in self.variants(candidate) if other not in known]
        for candidate in again:
            self.enter(candidate)
        await self.estimate(workers, again)
        plain = {row["candidate"]: row[self.objective] for row in self.rows}
        self.rows = [row for row in self.rows if not row["candidate"].varied or row[self.objective] < SAME * plain[costs.plain(row["candidate"])]]

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
        error = next((answer["error"] for answer in answers.values() if "error" in answer), None)
        if error:
            self.failed.append((candidate, error))
            self.note(candidate, "failed")
            return
        row = costs.figures(self.problem, candidate, {part: answer["figures"] for part, answer in answers.items()})
        self.rows.append({"name": str(candidate), "candidate": candidate, "microbatches": candidate.microbatches,
                          "state_bytes": bounds.state(self.problem, candidate), **row})
        self.note(candidate, "estimated" if row["fits"] else "estimated, but does not fit")

    def note(self, candidate, reason):
        """Not of another look at one that counts already."""
        if not candidate.varied:
            self.reasons[candidate] = reason


def group_of(candidate):
    """With the same programs but for those of its schedule."""
    return candidate.sizes, candidate.outer, candidate.microbatch, candidate.remat, candidate.zero


def without_microbatch(candidate):
    return candidate.sizes, candidate.outer, candidate.remat, candidate.zero, candidate.schedule, candidate.chunks
