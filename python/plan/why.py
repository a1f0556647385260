"""Why not: the best configuration with given settings beside the best of all, and what makes the difference."""
import candidates
from environments import Refused

TERMS = (("computation", "compute_s"), ("exposed communication", "exposed_s"), ("pipeline and launches", "rest_s"))
MOST = 24  # candidates that are estimated for an answer, where the search had none


def wanted(text, found):
    """Settings as texts; axes that are not named may have any size."""
    settings = dict(each.partition("=")[::2] for each in text.split(","))
    known = {*candidates.AXES, *(key for candidate in found for key in candidate.settings())}
    for key, value in settings.items():
        if key not in known or not value:
            raise Refused(f"--why takes SETTING=VALUE,..., not `{key}={value}`", f"settings are {', '.join(sorted(known))}", 2)
    return settings


def matches(candidate, settings):
    own = {axis: "1" for axis in candidates.AXES} | {"zero": "0"} | candidate.settings()
    return all(own.get(key) == value for key, value in settings.items())


def asked(text, found):
    """The candidates that have the settings."""
    settings = wanted(text, found)
    alike = [candidate for candidate in found if matches(candidate, settings)]
    if not alike:
        raise Refused(f"no configuration has {text}", "such a mesh does not divide the model, the batch or the devices, or --axes, --remat or --schedule leave it out", 2)
    return alike


async def compared(text, found, search, workers):
    """The row that the best is compared with; a search of its own where none was estimated."""
    settings, alike = wanted(text, found), asked(text, found)
    rows = [row for row in search.rows if matches(row["candidate"], settings)]
    if not any(row["fits"] for row in rows):
        await search.visit(workers, alike, MOST)
        rows = [row for row in search.rows if matches(row["candidate"], settings)]
    if not rows:
        raise Refused(f"no configuration with {text} can be estimated", search.failed[-1][1] if search.failed else
                      "weights and optimiser state alone do not fit", 5)
    return min(rows, key=lambda row: (not row["fits"], row[search.objective], row["name"]))


def terms(row):
    return {**row, "rest_s": round(row["step_time_s"] - row["compute_s"] - row["exposed_s"], 12) + 0.0}


def told(row, best, capacity):
    """Lines: the two, the terms of the step that differ, and memory."""
    one, other = terms(row), terms(best)
    lines = [f"why not {row['name']}?", f"it takes {one['step_time_s']:.4g} s, {100 * (one['step_time_s'] / other['step_time_s'] - 1):+.1f} % against the best"]
    for name, key in sorted(TERMS, key=lambda term: -abs(one[term[1]] - other[term[1]])):
        lines.append(f"  {name:<22} {one[key]:>9.4g} s, best {other[key]:>9.4g} s, difference {one[key] - other[key]:>+9.3g} s")
    lines.append(f"  {'memory':<22} {one['peak_memory_bytes'] / 1e9:>9.4g} GB, best {other['peak_memory_bytes'] / 1e9:>7.4g} GB")
    if not row["fits"]:
        lines.append(f"  it does not fit into {capacity / 1e9:.4g} GB")
    return lines
