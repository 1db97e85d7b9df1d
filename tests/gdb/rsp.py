# SPDX-License-Identifier: GPL-2.0-or-later
"""A client of gdb's remote protocol: vpt run --gdb, its registers, memory and positions."""

import hashlib
import os
import re
import socket
import subprocess
import tempfile

# Offsets in the answer to "g", in bytes.
RIP = 128


class Guest:
    """A guest of vpt run or vpt gdb, which stands at its first instruction."""

    def __init__(self, command):
        self.folder = tempfile.mkdtemp()
        path = self.folder + "/gdb"
        self.log = open(self.folder + "/log", "w+")
        self.process = subprocess.Popen(
            command if "--gdb" in " ".join(command) else command + ["--gdb=" + path],
            stdout=self.log, stderr=subprocess.STDOUT)
        self.socket = socket.socket(socket.AF_UNIX)
        while True:
            try:
                self.socket.connect(path)
                break
            except (FileNotFoundError, ConnectionRefusedError):
                if self.process.poll() is not None:
                    raise SystemExit("vpt ended: " + self.output())
        self.bytes = b""
        self.ask("QStartNoAckMode")
        self.acks = False
        self.ask("qSupported:swbreak+;hwbreak+")

    acks = True

    def read(self):
        while not re.search(rb"\$[^#]*#..", self.bytes):
            more = self.socket.recv(65536)
            if not more:
                raise SystemExit("vpt has gone: " + self.output())
            self.bytes += more
        found = re.search(rb"\$([^#]*)#..", self.bytes)
        self.bytes = self.bytes[found.end():]
        if self.acks:
            self.socket.sendall(b"+")
        return found.group(1).decode()

    def send(self, text):
        self.socket.sendall(b"$%s#%02x" % (text.encode(), sum(text.encode()) & 255))

    def ask(self, text):
        self.send(text)
        return self.read()

    def monitor(self, text):
        reply = self.ask("qRcmd," + text.encode().hex())
        return reply if reply == "OK" else bytes.fromhex(reply).decode()

    def position(self):
        return int(self.monitor("when"))

    def go(self, position):
        assert self.monitor("goto %d" % position) == "OK"

    def registers(self):
        return self.ask("g")

    def rip(self):
        return int.from_bytes(bytes.fromhex(self.ask("p10")), "little")

    def stack(self):
        return int.from_bytes(bytes.fromhex(self.ask("p7")), "little")

    def state(self, windows):
        """A hash of all registers of all vCPUs, and of memory."""
        text = ""
        for thread in self.threads():
            self.ask("Hg" + thread)
            text += self.registers()
        self.ask("Hg1")
        for first, last in windows:
            for at in range(first, last, 4096):
                text += self.ask("m%x,%x" % (at, min(4096, last - at)))
        return hashlib.sha256(text.encode()).hexdigest()

    def threads(self):
        return re.findall("[0-9a-f]+", self.ask("qfThreadInfo")[1:])

    def whole_state(self):
        """RIP of the first vCPU, a hash of all registers of all vCPUs, and one of all memory."""
        text = ""
        for thread in self.threads():
            assert self.ask("Hg" + thread) == "OK"
            text += self.registers()
        self.ask("Hg1")
        ip = int.from_bytes(bytes.fromhex(text[2 * RIP:2 * RIP + 16]), "little")
        return ip, hashlib.sha256(text.encode()).hexdigest(), self.monitor("hash").strip()

    def output(self):
        with open(self.log.name) as file:
            return file.read()

    def end(self):
        """Let the guest run to its end. Returns its exit status."""
        self.ask("D")
        self.socket.close()
        status = self.process.wait(timeout=60)
        self.log.flush()
        return status

    def close(self):
        if self.process.poll() is None:
            self.send("k")
            self.process.wait(timeout=60)
        self.log.close()
        subprocess.run(["rm", "-r", self.folder], check=True)
