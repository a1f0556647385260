"""Pages of Python's commands in the design of all pages (data/report)."""
import html
import re


def table(caption, heads, rows):
    """The last column is words, which are broken behind commas; the others are numbers."""
    long = any(len(row[-1]) > 40 for row in rows)
    kinds = [" class=number"] * (len(heads) - 1) + [" class=words" if long else ""]
    head = "".join(f"<th scope=col{kind}>{html.escape(name)}</th>" for name, kind in zip(heads, kinds))
    body = "".join("<tr>" + "".join(f"<td{kind}>{html.escape(cell).replace(',', ',<wbr>')}</td>" for cell, kind in zip(row, kinds)) + "</tr>" for row in rows)
    return (f'<div class=scroll tabindex=0 role=region aria-label="{html.escape(caption)}"><table><caption>{html.escape(caption)}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>")


def document(data, heading, subtitle, body, style=""):
    """The page's text; `data` is the folder of data (`report` in it), `body` is HTML."""
    files = {name: (data / "report" / name).read_text(encoding="utf-8") for name in ("page.html", "page.css", "shell.js")}
    parts = {"TITLE": html.escape(heading), "STYLE": files["page.css"] + style, "HEADING": html.escape(heading), "SUBTITLE": html.escape(subtitle), "BODY": body,
             "SHELL": files["shell.js"], "SCRIPTS": ""}
    return re.sub("@([A-Z]+)@", lambda mark: parts[mark[1]], files["page.html"])
