# SPDX-License-Identifier: GPL-2.0-or-later
"""The guests of different.py, as arguments of vpt run."""
import glob
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


END = "bench: end with 1 processors"
# The trace of a Debian that boots and ends, and of a program that is compiled.
BYTES_OF_DEBIAN, BYTES_OF_A_ROUND = 260e6, 27e6


class Work:
    """A guest. @args is called with the bytes that its trace is to have, which only the last guest heeds. The console
    must have the text, unless the text is None."""

    def __init__(self, name, args, text=None):
        self.name, self.args, self.text = name, args, text


def tool(tools, *args):
    """The directory that a tool of patches/tools prints."""
    return subprocess.run([f"{tools}/{args[0]}", *args[1:]], check=True, stdout=subprocess.PIPE,
                          text=True).stdout.strip()


def initrd(tools, work):
    """Make the initrd of make bench-linux, whose work is a boot. Returns its name."""
    path, tree = f"{work}/initrd", f"{work}/tree/bench"
    os.makedirs(tree, exist_ok=True)
    for name in ("init", "work"):
        with open(f"{HERE}/linux/{name}", "rb") as source, open(f"{tree}/{name}", "wb") as to:
            to.write(source.read())
        os.chmod(f"{tree}/{name}", 0o755)
    archive = subprocess.run(["cpio", "-o", "-H", "newc", "--quiet", "-R", "0:0"], check=True,
                             input=b"bench\nbench/init\nbench/work\n", stdout=subprocess.PIPE,
                             cwd=f"{work}/tree").stdout
    with open(path, "wb") as out, open(f"{tool(tools, 'guest')}/initrd", "rb") as first:
        out.write(first.read())
        out.write(archive)
    return path


def boot(tools, work, kernel):
    return [f"--initrd={initrd(tools, work)}", "--mem=512M", kernel,
            "--append=console=ttyS0 loglevel=0 panic=-1 rdinit=/bench/init bench.work=boot bench.cpus=1"]


def compiler(tools, work, room):
    """A run with a limit of its trace would not do: the summary of a guest that was stopped is another one."""
    rounds = max(1, round((room - BYTES_OF_DEBIAN) / BYTES_OF_A_ROUND))
    debian, disk = tool(tools, "debian", "bookworm"), f"{work}/compile"
    with open(f"{HERE}/linux/compile", "rb") as source, open(disk, "wb") as to:
        script = source.read()
        to.write(script + b"\0" * (-len(script) % 4096))
    return [f"--initrd={debian}/initrd", f"--disk={debian}/image", f"--disk={disk},ro", "--virtio-rng",
            "--mem=1024M", f"{debian}/vmlinuz",
            "--append=console=ttyS0 loglevel=3 root=/dev/vda systemd.mask=session.service "
            f"systemd.wants=multi-user.target bench.rounds={rounds} "
            "\"systemd.run=/bin/sh -c 'sh /dev/vdb >/dev/console 2>&1'\""]


def works(guests, tools, work):
    """All guests. Their arguments are made when they are needed, because the images take long."""
    for elf in sorted(glob.glob(f"{guests}/*.elf")):
        if not os.path.basename(elf).startswith("atom_"):
            yield Work("payloads", lambda room, elf=elf: [elf])
    for name, of in (("boot, Debian 12's kernel", ("guest",)), ("boot, Debian 13's kernel", ("debian", "trixie")),
                     ("boot, a kernel of our own", ("own-kernel",))):
        yield Work(name, lambda room, of=of: boot(tools, work, f"{tool(tools, *of)}/vmlinuz"), END)
    yield Work("Debian with a compiler", lambda room: compiler(tools, work, room), END)
