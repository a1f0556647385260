"""Tables of experiments in documents, between `<!-- experiment NAME -->` and `<!-- /experiment NAME -->`."""
import output
from environments import Refused


def table(result):
    """The tutorial's rows as they are; of other experiments the errors, or the results where nothing is measured."""
    errors = result["statistics"].get("errors")
    if output.is_tutorial(result) or not errors:
        return output.markdown(*output.rows_shown(result))
    parts = [output.markdown(*output.statistics_shown(errors))]
    for name in ("trend", "cross_system"):
        if result["statistics"][name]:
            parts.append(output.markdown(*output.statistics_shown(result["statistics"][name])))
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
