"""Errors and trends of rows, as the prototype's plot scripts define them.

error         |prediction / measurement - 1|, of one system and workload
trend         between consecutive sizes of one system: |(p_i / p_i-1) / (r_i / r_i-1) - 1|, median
cross-system  between two systems on one workload, both ways: |(p_to / p_from) / (r_to / r_from) - 1|, median over the ordered pairs of a
              workload, then median over workloads
speed-up      p_from / p_to, mean over workloads; of the measurements too
rank          Spearman's correlation of predictions and measurements over workloads, where there are five or more
"""
import itertools
import statistics as stats

MEASURED = "Measured"
LEAST_RANKED = 5


def times(rows, source):
    """{(system, workload): seconds} of one source, or of the measurements."""
    if source == MEASURED:
        return {(row["system"], row["workload"]): row["measured_s"] for row in rows if row.get("measured_s")}
    return {(row["system"], row["workload"]): row["step_time_s"] for row in rows if row["source"] == source and row.get("step_time_s")}


def unique(rows, key):
    return list(dict.fromkeys(row[key] for row in rows))


def percent(value):
    return None if value is None else 100 * value


def median(values):
    return stats.median(values) if values else None


def relative(predicted, measured, one, other):
    """(ratio predicted, ratio measured or None, |their quotient - 1| or None) of two points."""
    ratio = predicted[one] / predicted[other]
    if one not in measured or other not in measured:
        return ratio, None, None
    truth = measured[one] / measured[other]
    return ratio, truth, abs(ratio / truth - 1)


def errors(rows, sources, truth):
    """A row for each system and source that has measurements."""
    found = []
    for system in unique(rows, "system"):
        for source in sources:
            ratios = {at: value / truth[at] for at, value in times(rows, source).items() if at[0] == system and at in truth}
            if ratios:
                off = [abs(ratio - 1) for ratio in ratios.values()]
                found.append({"system": system, "source": source, "count": len(ratios), "mean_error_percent": percent(stats.mean(off)),
                              "median_error_percent": percent(median(off)), "worst_error_percent": percent(max(off)),
                              "bias_percent": percent(stats.mean(ratio - 1 for ratio in ratios.values())),
                              "rank_correlation": rank_correlation([truth[at] * ratio for at, ratio in ratios.items()], [truth[at] for at in ratios])})
    return found


def size_ratios(rows, sources, truth):
    """Ratios of consecutive workloads on one system."""
    found = []
    for system, source in itertools.product(unique(rows, "system"), sources):
        known = times(rows, source)
        sizes = [workload for workload in unique(rows, "workload") if (system, workload) in known]
        for small, large in itertools.pairwise(sizes):
            ratio, measured, error = relative(known, truth, (system, large), (system, small))
            found.append({"system": system, "source": source, "from": small, "to": large, "ratio": ratio, "measured_ratio": measured,
                          "error_percent": percent(error)})
    return found


def system_ratios(rows, sources, truth):
    """Ratios of one workload between all ordered pairs of systems."""
    found = []
    for source in sources:
        known = times(rows, source)
        for workload in unique(rows, "workload"):
            systems = [system for system in unique(rows, "system") if (system, workload) in known]
            for start, end in itertools.permutations(systems, 2):
                ratio, measured, error = relative(known, truth, (end, workload), (start, workload))
                found.append({"source": source, "workload": workload, "from": start, "to": end, "ratio": ratio, "measured_ratio": measured,
                              "error_percent": percent(error)})
    return found


def trend(ratios):
    """Median error of the size ratios of each system and source."""
    groups = {}
    for row in ratios:
        if row["error_percent"] is not None:
            groups.setdefault((row["system"], row["source"]), []).append(row["error_percent"])
    return [{"system": system, "source": source, "count": len(found), "trend_error_percent": median(found)} for (system, source), found in groups.items()]


def cross_system(ratios):
    """Median over a workload's ordered pairs of systems, then over workloads."""
    groups = {}
    for row in ratios:
        if row["error_percent"] is not None:
            groups.setdefault(row["source"], {}).setdefault(row["workload"], []).append(row["error_percent"])
    return [{"source": source, "workloads": len(found), "cross_system_error_percent": median([median(each) for each in found.values()])}
            for source, found in groups.items()]


def speed_ups(rows, sources):
    """Mean over workloads of the time on one system over that on another."""
    found = []
    for start, end in itertools.permutations(unique(rows, "system"), 2):
        for source in [*sources, MEASURED]:
            known = times(rows, source)
            both = [known[start, workload] / known[end, workload] for workload in unique(rows, "workload")
                    if (start, workload) in known and (end, workload) in known]
            if both:
                found.append({"from": start, "to": end, "source": source, "workloads": len(both), "speed_up": stats.mean(both)})
    return found


def ranks(values):
    """Equal values share the mean of their ranks."""
    order = sorted(values)
    return [order.index(value) + (order.count(value) - 1) / 2 for value in values]


def rank_correlation(ours, theirs):
    if len(ours) < LEAST_RANKED or len(set(ours)) == 1 or len(set(theirs)) == 1:
        return None
    return stats.correlation(ranks(ours), ranks(theirs))


def statistics(rows):
    """All of them, by name; each a list of rows."""
    sources, truth = unique(rows, "source"), times(rows, MEASURED)
    sizes, systems = size_ratios(rows, sources, truth), system_ratios(rows, sources, truth)
    return {"errors": errors(rows, sources, truth), "trend": trend(sizes), "cross_system": cross_system(systems),
            "speed_ups": speed_ups(rows, sources), "size_ratios": sizes, "system_ratios": systems}
