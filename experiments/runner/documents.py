"""Tables of experiments in documents, between `<!-- experiment NAME -->` and `<!-- /experiment NAME -->`."""
import output
from environments import Refused


def table(result):
    """The errors and trends; the results where nothing is measured, and the tutorial's rows with their reasons."""
    statistics = result["statistics"]
    parts = [] if statistics.get("errors") else [output.markdown(*output.rows_shown(result))]
    parts += [output.markdown(*output.statistics_shown(statistics[name])) for name in ("reasons", "errors", "trend", "cross_system") if statistics.get(name)]
    return "\n".join(parts)


def fill(path, results):
    """Writes the tables of `results` between their marks in `path`; marks of other experiments are left alone."""
    if not path.is_file():
        raise Refused(f"there is no file `{path}`", status=1)
    text, filled = path.read_text(encoding="utf-8"), 0
    for result in results:
        start, end = f"<!-- experiment {result['name']} -->", f"<!-- /experiment {result['name']} -->"
        if start in text and end in text[text.index(start):]:
            head, rest = text.split(start, 1)
            text = f"{head}{start}\n{table(result)}{end}{rest.split(end, 1)[1]}"
            filled += 1
    if not filled:
        raise Refused(f"{path} has no marks of these experiments", f"put `<!-- experiment {results[0]['name']} -->` and "
                      f"`<!-- /experiment {results[0]['name']} -->` around the place", 1)
    path.write_text(text, encoding="utf-8")
