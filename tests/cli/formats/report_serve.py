# SPDX-License-Identifier: GPL-2.0-or-later
"""Ask a server of vpt report for its page and details, and for what it must refuse.

usage: report_serve.py URL PAGE [part]     PAGE is the page of vpt report -o of the same trace
"""
import json
import re
import socket
import sys
import urllib.parse

url = urllib.parse.urlsplit(sys.argv[1])
port, base = url.port, url.path
host = "127.0.0.1:%d" % port


def send(raw, shut=False):
    """Returns the status, the headers and the body of the answer."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as s:
        s.sendall(raw)
        if shut:
            s.shutdown(socket.SHUT_WR)
        answer = b""
        while part := s.recv(65536):
            answer += part
    if not answer:
        return 0, "", b""
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), head.decode(), body


def get(path, host=host, method="GET", more="", version="HTTP/1.1"):
    hosts = "Host: %s\r\n" % host if host else ""
    return send(("%s %s %s\r\n%s%s\r\n" % (method, path, version, hosts, more)).encode())


def data_of(page):
    return json.loads(re.search(r'id="data">\n(.*?)\n</script>', page, re.S)[1])


# The page is that of a file, with the addresses of its functions.
status, head, body = get(base)
assert status == 200 and "no-store" in head and "nosniff" in head
have = data_of(body.decode())
starts = have.pop("starts")
with open(sys.argv[2], encoding="utf-8") as f:
    want = data_of(f.read())
assert have == want and len(starts) == len(want["functions"])
assert "connect-src 'self'" in body.decode()
assert get(base, host="localhost:%d" % port)[2] == body
assert get(base, version="HTTP/1.0")[2] == body



def named(code, files):
    """A function, with the name and the text of each source line in place of their numbers."""
    rows, src = [], None
    for row in code["rows"]:
        src = row.get("src", src)
        rows.append({k: v for k, v in row.items() if k != "src"})
        if "line" in row:
            rows[-1]["source"] = (files[src]["name"], files[src]["lines"].get(str(row["line"])))
    return {**{k: v for k, v in code.items() if k not in ("source", "function")}, "rows": rows}


# The instructions of each function. Those of the page are the same, also with their source lines.
codes = {c["function"]: named(c, want["source"]) for c in want["code"]}
assert any(row.get("source", (0, 0))[1] for c in codes.values() for row in c["rows"])
functions = 0
for i, start in enumerate(starts):
    status, _, body = get(base + "code?at=" + start)
    assert status == 200, (start, status)
    code = json.loads(body)
    functions += 1
    if i in codes:
        assert named(code, code["source"]) == codes[i]
    else:
        assert code["start"] == start
        # A block that a cut splits is of the function, and is not counted.
        assert "part" in sys.argv or any(row.get("n") for row in code["rows"]) == (want["totals"][i][0] > 0)
assert functions > len(codes) or functions < 40

# The calls of a window are those of the page that begin and end in it, and all that overlap it.
windows = calls = idle = 0
assert not any(lane["omitted"] for lane in want["lanes"])
for vcpu in sorted({lane["vcpu"] for lane in want["lanes"]}):
    lanes = [lane for lane in want["lanes"] if lane["vcpu"] == vcpu]
    ends = sorted({s[1] for lane in lanes for s in lane["spans"]})
    for at in (0, ends[len(ends) // 3], ends[len(ends) // 2] + 1):
        for size in (1, 10, 1000, 10**15):
            status, _, body = get("%scalls?vcpu=%d&from=%d&to=%d" % (base, vcpu, at, at + size))
            assert status == 200
            part = json.loads(body)
            for lane in lanes:
                got = [p for p in part["lanes"] if p["name"] == lane["name"]]
                got = {(part["functions"][s[0]], *s[1:]) for p in got for s in p["spans"]}
                clipped = set()
                for func, begin, length, depth, cut in lane["spans"]:
                    end = begin + length
                    if end <= at or begin >= at + size or not length:
                        continue
                    if begin < at or at and begin == at:
                        begin, cut = max(begin, at), cut & ~1
                    if end >= at + size:
                        end, cut = at + size, cut & ~2
                    clipped.add((want["functions"][func], begin, end - begin, depth, cut))
                # A lane reports calls that the page's cut has cut when it runs again.
                old = {(want["functions"][s[0]], s[3]) for s in lane["spans"] if s[4] & 1 and "part" in sys.argv}
                got = {s for s in got if s[2] and (s[0], s[3]) not in old}
                clipped = {s for s in clipped if (s[0], s[3]) not in old}
                # A lane that does not run in the window reports no calls, nor those that end before it runs.
                runs = min([s[1] for s in got if s[1] > at] + [s[1] + s[2] for s in got], default=at + size)
                late = {s for s in clipped - got if s[1] == at and (s[1] + s[2] <= runs or s[4] & 2)}
                idle += len(late)
                assert got == clipped - late, (vcpu, at, size, lane["name"], got ^ clipped)
                calls += len(got)
            events = {(s["name"], e["at"]) for s in part["events"] for e in s["list"]}
            assert events == {(s["name"], e["at"]) for s in want["events"] if s["vcpu"] == vcpu
                              for e in s["list"] if at <= e["at"] < at + size}
            windows += 1

# What is refused, each with one line.
wrong = base[:-2] + ("0" if base[-2] != "0" else "1") + "/"
REFUSED = [
    ("wrong token", 403, get(wrong)),
    ("short token", 403, get("/" + base[1:10] + "/")),
    ("no token", 403, get("/")),
    ("token without slash", 403, get(base[:-1])),
    ("wrong token of a detail", 403, get(wrong + "code?at=" + starts[0])),
    ("wrong Host", 403, get(base, host="example.org")),
    ("Host with another port", 403, get(base, host="127.0.0.1:%d" % (port + 1))),
    ("Host with a suffix", 403, get(base, host=host + ".example.org")),
    ("no Host", 403, get(base, host=None)),
    ("two Hosts", 403, get(base, more="Host: %s\r\n" % host)),
    ("other path", 404, get(base + "secret")),
    ("report.js", 404, get(base + "report.js")),
    ("../", 404, get(base + "../etc/passwd")),
    ("../ before the token", 403, get("/../../etc/passwd")),
    ("encoded ../", 404, get(base + "%2e%2e/%2e%2e/etc/passwd")),
    ("absolute URL", 403, get("http://" + host + base)),
    ("file", 404, get(base + "/etc/passwd")),
    ("POST", 405, get(base, method="POST")),
    ("HEAD", 405, get(base, method="HEAD")),
    ("PUT", 405, get(base, method="PUT")),
    ("lower case", 405, get(base, method="get")),
    ("a body", 400, get(base, more="Content-Length: 1\r\n")),
    ("chunks", 400, get(base, more="Transfer-Encoding: chunked\r\n")),
    ("other version", 400, get(base, version="HTTP/2.0")),
    ("no version", 400, send(b"GET " + base.encode() + b"\r\n\r\n")),
    ("bad header", 400, get(base, more="nonsense\r\n")),
    ("bytes", 400, send(bytes(range(256)) + b"\r\n\r\n")),
    ("long path", 431, get(base + "a" * 9000)),
    ("long header", 431, get(base, more="X: " + "a" * 9000 + "\r\n")),
    ("address of no function", 404, get(base + "code?at=0x1")),
    ("no address", 400, get(base + "code?at=")),
    ("large address", 400, get(base + "code?at=0x1" + "0" * 16)),
    ("more behind an address", 400, get(base + "code?at=%s&x=1" % starts[0])),
    ("vCPU that is not there", 404, get(base + "calls?vcpu=99&from=0&to=1")),
    ("empty range", 400, get(base + "calls?vcpu=0&from=5&to=5")),
    ("reversed range", 400, get(base + "calls?vcpu=0&from=5&to=4")),
    ("negative range", 400, get(base + "calls?vcpu=0&from=-5&to=4")),
]
for name, status, (got, _, body) in REFUSED:
    assert got == status, (name, got)
    lines = body.decode().splitlines()
    assert len(lines) == 1 and lines[0].startswith("vpt report: "), (name, lines)
    assert "passwd" not in lines[0] and base[1:-1] not in lines[0]
# A request that ends early gets no answer, and the server goes on.
assert send(b"GET / HT", shut=True)[0] == 0
assert get(base)[0] == 200
print("functions: %d, windows: %d, calls: %d and %d, refused: %d" % (functions, windows, calls, idle, len(REFUSED)))
assert idle < calls / 4 and functions > 20 and windows >= 12 and calls > 200 and len(REFUSED) == 37
