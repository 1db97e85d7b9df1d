# SPDX-License-Identifier: GPL-2.0-or-later
"""Open pages of vpt report in chromium, click, zoom and search, and compare names with folded stacks.

usage: browser.py PAGE FOLDED DIR [time] [detail] [source] [served]
PAGE is a file or the address of a server. DIR gets the screenshots, and "opened", the seconds from the begin of the
navigation until the timeline was shown. "time": the page has an axis by time; "detail": it omits calls; "source": lines
of calls.c have markup, and other files are not found; "served": its server adds calls
"""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

folded, out = (os.path.abspath(p) for p in sys.argv[2:4])
page = sys.argv[1] if "served" in sys.argv[4:] else "file://" + os.path.abspath(sys.argv[1])
timed = "time" in sys.argv[4:]
HANG = 120
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--window-size=1280,1000"]


class Browser:
    def __init__(self, profile):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                self.url = "http://127.0.0.1:" + line.split()[-1].rstrip(".")
                break
        options = {"args": FLAGS + ["--user-data-dir=" + profile]}
        made = self.call("/session", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.url += "/session/" + made["sessionId"]

    def call(self, path, body):
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=HANG) as answer:
            return json.load(answer)["value"]

    def run(self, script, *args):
        return self.call("/execute/sync", {"script": script, "args": list(args)})

    def wait(self, script, *args):
        """Run a script until its result is true, and return that."""
        until = time.monotonic() + HANG
        while not (result := self.run(script, *args)):
            assert time.monotonic() < until, (script, self.call("/se/log", {"type": "browser"}))
            time.sleep(0.05)
        return result

    def shot(self, name):
        with urllib.request.urlopen(self.url + "/screenshot", timeout=60) as answer:
            png = json.load(answer)["value"]
        with open(os.path.join(out, name + ".png"), "wb") as f:
            f.write(base64.b64decode(png))

    def close(self):
        try:
            urllib.request.urlopen(urllib.request.Request(self.url, method="DELETE"), timeout=20)
        finally:
            self.driver.terminate()
            self.driver.wait()


def names():
    found = set()
    with open(folded, encoding="latin-1") as f:
        for line in f:
            found.update(line.rsplit(" ", 1)[0].split(";")[1:])
    return sorted(found)


SEARCH = """const q = document.getElementById('query');
return arguments[0].filter((name) => {
    q.value = name;
    q.dispatchEvent(new Event('input'));
    return ![...document.querySelectorAll('#found button')].some((b) => b.textContent.replaceAll(';', ':') === 'function ' + name);
});"""
OPENED = "return performance.getEntriesByName('timeline').map((e) => e.startTime)[0];"
PRESS = """document.getElementById('time').dispatchEvent(
    new KeyboardEvent('keydown', {key: arguments[0], bubbles: true}));
return document.getElementById('range').textContent;"""


# The rows of the table of calls: where, time and instruction.
ROWS = """document.getElementById('calls').parentElement.open = true;
draw();
return [...document.querySelectorAll('#calls tbody tr')].map((tr) => [...tr.cells].map((c) => c.textContent));"""


def opened(b):
    """Open the page, and measure until the timeline is shown. A figure and no limit."""
    b.call("/url", {"url": page})
    seconds = b.wait(OPENED) / 1000
    with open(os.path.join(out, "opened"), "w", encoding="utf-8") as f:
        f.write("%.2f\n" % seconds)


def check_no_time(b):
    assert b.run("return document.getElementById('axis').disabled")
    assert "no axis by time" in b.run("return document.getElementById('axisnote').textContent")
    whole = b.run(PRESS, "t")
    assert whole.startswith("instructions "), whole


def in_order(b):
    """Rows of one time are in the order of instructions, and later ones have later times."""
    rows = b.run("""const list = []; const c = [...clocks.keys()];
    for (const v of c) {
        const all = data.events.filter((s) => s.vcpu === v).flatMap((s) => s.list.map((e) => [e.at, eventPlace(s, e)]));
        for (const l of data.lanes.filter((l) => l.vcpu === v))
            for (const s of l.spans)
                all.push([s[1], place(v, s[1], true)]);
        list.push(all.filter((e) => e[1] !== undefined));
    }
    return list;""")
    same = 0
    for vcpu in rows:
        vcpu.sort()
        last = {}
        for (a, x), (clock, y) in zip(vcpu, vcpu[1:]):
            assert a == clock or x <= y, (a, x, clock, y)
            same += a != clock and x == y
    return same


def check_time(b):
    assert not b.run("return document.getElementById('axis').disabled")
    before = b.run(PRESS, "0")
    b.run("document.getElementById('axis').click()")
    b.shot("time")
    whole = b.run(PRESS, "0")
    assert whole.startswith("time 0"), whole
    assert b.run("return document.getElementById('axis').getAttribute('aria-pressed')") == "true"
    in_order(b)
    rows = b.run(ROWS)
    assert len(rows) > 10 and all(len(row) == 5 for row in rows), rows[:3]
    b.run("zoom(0.1, 0.9)")
    b.shot("time-zoomed")
    # The address keeps the axis and the range. Another axis shows the same part.
    near = b.run("return [view.from, view.to]")
    address = b.wait("return location.hash.includes('axis=time') && address() === location.hash && location.href;")
    b.run("changeAxis()")
    zoomed = b.run("return document.getElementById('range').textContent")
    assert zoomed.startswith("instructions ") and zoomed != before, zoomed
    b.run("changeAxis()")
    again = b.run("return [view.from, view.to]")
    assert all(abs(x - y) <= 0.05 * (near[1] - near[0]) for x, y in zip(near, again)), (near, again)
    b.call("/url", {"url": "about:blank"})
    b.call("/url", {"url": address})
    again = b.run("return axis.time && [view.from, view.to]")
    assert again and all(abs(x - y) <= 2 for x, y in zip(near, again)), (near, again)
    # A call of which a part has no known time is torn, and one without any is not drawn.
    torn = b.run("""const lane = data.lanes.find((l) => clocks.has(l.vcpu)), c = clocks.get(lane.vcpu);
    const first = c.at[0] = 10, last = c.at[c.at.length - 1];
    return [[0, 0, 5, 0, 0], [0, 0, 50, 0, 0], [0, 20, 5, 0, 0], [0, 20, last, 0, 0], [0, last + 1, 5, 0, 0]].map((s) => tornAt(lane, s));""")
    assert torn == [4, 1, 0, 2, 4], torn
    b.call("/url", {"url": "about:blank"})
    b.call("/url", {"url": page})
    assert b.run(PRESS, "0") == before


def check_detail(b):
    """Each part of a page that omits calls has calls of its own, and the view reports what is omitted."""
    b.run(PRESS, "0")
    b.shot("detail-whole")
    places = b.run("""const out = [];
    for (let i = 0; i < 40; i++) {
        const size = (end - begin) / 512, from = begin + (end - begin) * (i + 0.4) / 40;
        show(from, from + size);
        const drawn = hits.filter((h) => Array.isArray(h[3]) && h[3][1] >= view.from && h[3][1] + h[3][2] <= view.to);
        out.push([drawn.length, document.getElementById('omitted').textContent]);
    }
    return out;""")
    assert sum(n >= 20 for n, _ in places) >= 30, places
    assert all("short calls are not in the page" in text for _, text in places), places
    assert any("are omitted in this view" in text for _, text in places), places
    b.shot("detail-near")


def check_served(b):
    """The server adds calls once."""
    calls = "return data.lanes.map((l) => l.spans.length).join();"
    before = b.run(calls)
    assert not b.run("return document.getElementById('more').hidden")
    for part in (0.5, 0.25):
        b.run("loaded.length = 0; zoom(arguments[0]); document.getElementById('more').click();", part)
        b.wait("return loaded.length === vcpus.length;")
        in_order(b)
    # A page that has all calls gets no other ones.
    assert b.run(calls) == before
    # A page without short calls gets them.
    b.run(PRESS, "0")
    b.run("data.lanes.forEach((l) => { l.spans = l.spans.filter((s) => s[2] >= 50); }); loaded.length = 0;")
    assert b.run(calls) != before
    b.run("document.getElementById('more').click();")
    b.wait("return loaded.length === vcpus.length;")
    assert b.run(calls) == before


# The pixels before the end of a vCPU at which no address space runs by the picture, and those at which more than
# two do. Intervals nearer than a pixel are drawn as one, so a trace with many has pixels of several.
RUNNING = """
    const width = canvas.clientWidth, x = (n) => (n - view.from) * width / (view.to - view.from);
    const wrong = vcpus.map((v) => {
        const rows = lines.filter((r) => r.lane && r.lane.vcpu === v), running = new Float64Array(Math.ceil(width));
        running.fill(rows.length);
        for (const r of rows)
            for (const [left, , wide] of idlePlaces(r, 0, x, width))
                for (let i = Math.ceil(left); i < Math.floor(left + wide); i++)
                    running[i]--;
        const end = x(Math.max(...rows.map((r) => r.lane.runs[r.lane.runs.length - 1][1])));
        return rows.length === data.lanes.filter((l) => l.vcpu === v).length && !axis.time
            ? [running.filter((n, i) => n < 1 && i < end - 1).length, running.filter((n) => n > 2).length] : [0, 0];
    });
    return [wrong, document.getElementById('omitted').textContent.includes('Where calls are pale')];"""


def source_lines(b):
    """The lines above the instructions of the shown function: the place, and the text or None."""
    return b.run("""return [...document.querySelectorAll('#code tr.line')].map((tr) => {
        const text = tr.querySelector('code');
        return [tr.cells[0].textContent, text && text.textContent];
    });""")


def check_source(b):
    """Lines have their text above the instructions, and the page names files that were not found."""
    shown = b.run("return data.functions.findIndex((name, f) => name === 'gcd' && codes.has(f));")
    b.run("goCode(arguments[0]);", shown)
    b.shot("source")
    lines = source_lines(b)
    with open("guest/payloads/calls.c", encoding="utf-8") as f:
        of_file = f.read().split("\n")
    assert lines, lines
    for place, text in lines:
        name, number = place.split(":")
        assert name == "calls.c" and text == of_file[int(number) - 1] + " // </script><script>alert(2)</script>", (place, text)
    note = "return document.getElementById('codenote').textContent;"
    assert "without text" not in b.run(note)
    other = b.run("return data.functions.findIndex((name, f) => name === 'printk' && codes.has(f));")
    b.run("goCode(arguments[0]);", other)
    assert "Source lines without text: guest/lib/printk.c: not found." in b.run(note), b.run(note)
    assert any(text is None for _, text in source_lines(b))


def check(b):
    opened(b)
    b.shot("whole")
    wrong, pale = b.run(RUNNING)
    assert not any(none for none, _ in wrong), wrong
    assert max(many for _, many in wrong) < 600, wrong
    assert pale == (b.run("return data.lanes.some((l) => data.lanes.some((m) => m !== l && m.vcpu === l.vcpu));")), pale
    whole = b.run(PRESS, "0")
    ranges = [whole]
    for name in ("zoomed", "closer"):
        for _ in range(3):
            b.run("document.getElementById('in').click()")
        ranges.append(b.run(PRESS, "ArrowRight"))
        b.shot(name)
    assert len(set(ranges)) == 3, ranges
    assert b.run(PRESS, "0") == whole
    (check_time if timed else check_no_time)(b)
    if "detail" in sys.argv[4:]:
        check_detail(b)
    if "source" in sys.argv[4:]:
        check_source(b)
    if "served" in sys.argv[4:]:
        check_served(b)
        # The server sends the source lines of a function.
        before = source_lines(b)
        f = b.run("const f = data.code[0].function; codes.delete(f); goCode(f); return f;")
        b.wait("return codes.has(arguments[0]);", f)
        assert b.run("return codes.get(arguments[0]).source.length", f)
        assert before and any(text for _, text in before) and source_lines(b) == before
    wanted = names()
    for i in range(0, len(wanted), 100):
        assert not (missing := b.run(SEARCH, wanted[i:i + 100])), missing
    b.run("document.querySelector('#found button').click()")
    b.shot("found")
    b.run("document.getElementById('found').hidden = true;"
          "document.getElementById('h-flame').scrollIntoView(); window.scrollBy(0, -80)")
    b.shot("flame")
    boxes = b.run("return document.querySelectorAll('#flame g').length")
    b.run("const g = document.querySelectorAll('#flame g'); "
          "g[g.length - 1].dispatchEvent(new MouseEvent('click'))")
    assert b.run("return document.querySelectorAll('#flame g').length") != boxes or boxes < 3
    # A script of a guest's name would be one more, and could have run.
    assert b.run("return document.scripts.length") == 2
    log = b.call("/se/log", {"type": "browser"})
    assert not log, log
    b.call("/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {
        "features": [{"name": "prefers-color-scheme", "value": "dark"}]}})
    b.run("window.scrollTo(0, 0)")
    time.sleep(0.3)
    b.shot("dark")


os.makedirs(out, exist_ok=True)
profile_dir = tempfile.mkdtemp()
browser = Browser(profile_dir)
try:
    check(browser)
finally:
    browser.close()
    shutil.rmtree(profile_dir, ignore_errors=True)
print("names found:", len(names()))
