"""How many of the configurations that were not estimated may be better: a random sample of them, and what it proves."""
import dataclasses
import math
import random

import costs

CONFIDENCE = 0.95


@dataclasses.dataclass(frozen=True)
class Sample:
    population: int  # not estimated, and not proved to be slower
    size: int
    better: int

    @property
    def share(self):
        """The largest share of the population that may be better: the one-sided bound of Clopper and Pearson (Biometrika 26, 1934)."""
        if self.better == self.size:
            return 1.0
        low, high = self.better / self.size, 1.0
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if self.seen(middle) > 1 - CONFIDENCE else (low, middle)
        return high

    def seen(self, share):
        """How likely so few or fewer better ones are, if this share of the population is better."""
        def term(k):  # in logarithms, as the binomials of large samples exceed a float
            ways = math.lgamma(self.size + 1) - math.lgamma(k + 1) - math.lgamma(self.size - k + 1)
            return math.exp(ways + k * math.log(share) + (self.size - k) * math.log1p(-share))
        return sum(map(term, range(self.better + 1)))

    @property
    def most(self):
        return math.ceil(self.share * self.population)


async def sampled(search, row, count, workers):
    """Estimates configurations picked at random among those that may be better than a row; the same ones at each call."""
    possible = sorted(search.open(row), key=str)
    picked = set(random.Random(0).sample(possible, min(count, len(possible))))
    await search.estimate(workers, sorted(picked, key=str))
    await search.vary(workers, sorted(picked, key=str))
    size = len(picked) - sum(candidate in picked for candidate, _ in search.failed)
    return Sample(len(possible), size, sum(costs.plain(other["candidate"]) in picked for other in search.better(row)))


def told(sample, than):
    return (f"of {sample.population} configurations that may be better than {than}, {sample.size} picked at random were estimated and {sample.better} were: "
            f"with {CONFIDENCE:.0%} confidence at most {sample.most} are")
