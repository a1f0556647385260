"""usage: fixed_data.py PAGE DATA [--renew]      puts the figures of DATA into a report, so that only its design can change; --renew: DATA from PAGE"""
import pathlib
import re
import sys

page, data = (pathlib.Path(name) for name in sys.argv[1:3])
text = page.read_text()
found = re.search(r'(<script type="application/json" id="data">)(.*?)(</script>)', text, re.DOTALL)
if "--renew" in sys.argv:
    data.write_text(found[2].strip() + "\n")
page.write_text(text[:found.start(2)] + data.read_text() + text[found.end(2):])
