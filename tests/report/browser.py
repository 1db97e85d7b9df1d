# SPDX-License-Identifier: GPL-2.0-or-later
"""Open pages of vpt report in chromium, click, zoom and search, and compare names with folded stacks.

usage: browser.py PAGE FOLDED DIR     DIR gets the screenshots
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

page, folded, out = (os.path.abspath(p) for p in sys.argv[1:4])
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
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def run(self, script, *args):
        return self.call("/execute/sync", {"script": script, "args": list(args)})

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


SEARCH = """const q = document.getElementById('query'); q.value = arguments[0];
q.dispatchEvent(new Event('input'));
return [...document.querySelectorAll('#found button')].map((b) => b.textContent);"""
PRESS = """document.getElementById('time').dispatchEvent(
    new KeyboardEvent('keydown', {key: arguments[0], bubbles: true}));
return document.getElementById('range').textContent;"""


def check(b):
    b.call("/url", {"url": "file://" + page})
    b.shot("whole")
    whole = b.run(PRESS, "0")
    ranges = [whole]
    for name in ("zoomed", "closer"):
        for _ in range(3):
            b.run("document.getElementById('in').click()")
        ranges.append(b.run(PRESS, "ArrowRight"))
        b.shot(name)
    assert len(set(ranges)) == 3, ranges
    assert b.run(PRESS, "0") == whole
    for name in names():
        assert any("function " + name == r.replace(";", ":") for r in b.run(SEARCH, name)), name
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
