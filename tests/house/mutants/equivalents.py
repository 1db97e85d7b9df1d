# SPDX-License-Identifier: GPL-2.0-or-later
"""The file `equivalent`: mutants that no test can tell from the original, each with the proof.

An entry names a mutant as Mutant.key does, by file, function and the lines before and after, so
that it survives changes elsewhere. Indented lines are its proof:

    shared/src/gen_timing.c: cyc
    - if (clocks && clocks >= pt->time.cyc_thresh)
    + if (clocks || clocks >= pt->time.cyc_thresh)
      The threshold is ...
"""


def read(path):
    """Return {key: proof}. Raises ValueError for an entry without a proof."""
    found, key, proof = {}, [], []

    def finish():
        if not key:
            return
        if len(key) != 3 or not proof:
            raise ValueError(f"{path}: not a mutant with a proof: {' '.join(key)}")
        found["\n".join(key)] = " ".join(proof)

    for line in path.read_text().splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if line.startswith("  "):
            proof.append(line.strip())
        elif line[0] in "-+":
            key.append(line.rstrip())
        else:
            finish()
            key, proof = [line.rstrip()], []
    finish()
    return found
