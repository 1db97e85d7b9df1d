#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt shard cut: a piece of a trace gives the result of its shard that the whole trace gives, byte for
# byte, and nothing else. The trace is not there while pieces are decoded.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh

t=$dir/t.vpt
plan=$dir/plan
pieces=$dir/pieces

# record PAYLOAD OPTION...
record() {
	payload=$1
	shift
	"$VPT" run -q --engine=soft --pt=host --psb=0 -o "$t" "$@" "$GUEST/$payload.elf" \
		>/dev/null 2>"$dir/err" </dev/null || tap_fail "vpt run $payload $*" "$(cat "$dir/err")"
}

# Print the shards in a random order.
shuffled() { # NUMBER
	awk -v n="$1" 'BEGIN { srand(2); for (i = 0; i < n; i++) print rand(), i }' | sort | cut -d" " -f2
}

bytes() { # FILE...
	cat "$@" | wc -c
}

# run_pieces: the results of all pieces, in a random order.
run_pieces() {
	for shard in $(shuffled "$number"); do
		"$VPT" shard run -q --dir="$dir/cut" --piece="$pieces" "$plan" "$shard" 2>>"$dir/err" ||
			return 1
	done
}

# cut_all KIND SHARDS: the plan, its pieces, and the results of the trace and of the pieces.
cut_all() {
	rm -rf "$pieces" "$dir/whole" "$dir/cut"
	# shellcheck disable=SC2086 # options
	"$VPT" shard plan -q $1 --shards="$2" -o "$plan" "$t" 2>>"$dir/err" || return 1
	number=$(($(wc -l <"$plan") - 1))
	"$VPT" shard cut -q -o "$pieces" "$plan" 2>>"$dir/err" || return 1
	"$VPT" shard run -q --dir="$dir/whole" --step=1 "$plan" 0 2>>"$dir/err" || return 1
	mv "$t" "$dir/away"
	run_pieces
	status=$?
	mv "$dir/away" "$t"
	return $status
}

# all KIND SHARDS LEAST PERCENT NAME: the trace in SHARDS shards, of which at least LEAST were made. The
# pieces together have at most PERCENT of as many traces.
all() {
	kind=$1 bad=
	cut_all "$1" "$2" || bad=cut
	[ -n "$bad" ] || diff -r "$dir/whole" "$dir/cut" >/dev/null || bad="results differ"
	# shellcheck disable=SC2086 # options
	"$VPT" decode $kind "$t" >"$dir/want" 2>/dev/null
	"$VPT" shard merge --dir="$dir/cut" "$plan" >"$dir/got" 2>>"$dir/err"
	cmp -s "$dir/want" "$dir/got" || bad="$bad merge"
	sum=$(bytes "$pieces"/*.vpt) whole=$(bytes "$t")
	percent=$((100 * sum / whole / number))
	[ $percent -le "$4" ] || bad="$bad size"
	if [ -z "$bad" ] && [ "$number" -ge "$3" ]; then
		tap_ok "$5: shards $number, pieces $percent% of the trace"
	else
		tap_fail "$5: shards $number, pieces $percent% of the trace" "$bad
$(cat "$dir/err")"
	fi
}

record jit --arg=100
all "" 7 6 20 "code that changes"
all --calls 24 20 10 "code that changes, calls"
record smp --cpus=3
all "" 9 3 40 "3 vCPUs"
all --calls 9 3 80 "3 vCPUs, calls"
record processes --user --tsc
all "" 7 1 20 "CR3 without PIPs, one shard"
record jit --arg=100
"$VPT" pack -q "$t" "$dir/packed" && mv "$dir/packed" "$t"
all "" 12 10 400 "a packed trace"
record quicksort --arg=40
all --calls 64 50 50 "calls, with the ELF image"
all "" 64 50 3 "quicksort"

# The script reads the pieces.
mv "$t" "$dir/away"
"$VPT" shard sbatch --for=sh --dir="$dir/tasks" --piece="$pieces" "$plan" >"$dir/script"
sed -i '/^\tsh .*merge.sh/d' "$dir/script"
sh "$dir/script" >"$dir/err" 2>&1
rm -f "$dir/tasks"/*.sh "$dir/tasks"/*.log
mv "$dir/away" "$t"
tap_run "sbatch --piece" diff -r "$dir/whole" "$dir/tasks"

# Only vpt shard run reads a piece.
one=$pieces/000003-000003.vpt
only="only vpt shard run --piece reads it"
refuses "info" $INPUT "a piece of a trace.*shards 3 to 3.*$only" info "$one"
refuses "decode" $INPUT "$only" decode "$one"
refuses "dump" $INPUT "$only" dump "$one"
refuses "verify" $INPUT "$only" verify "$one"
refuses "export" $INPUT "$only" export --to=perf "$one" "$dir/out"
refuses "pack" $INPUT "$only" pack "$one" "$dir/out"
refuses "plan" $INPUT "$only" shard plan "$one"

# bad NAME WORDS FILE: the file is not a piece of shard 3.
bad() {
	rm -rf "$dir/bad"
	refuses "$1" $INPUT "$2" shard run --dir="$dir/bad" --piece="$3" "$plan" 3
	[ -z "$(ls "$dir/bad")" ] || tap_fail "$1" "there is a result"
}
bad "the trace is no piece" "it is not a piece" "$t"
bad "another shard" "the piece of shards 4 to 4, not 3 to 3" "$pieces/000004-000004.vpt"
bad "no piece" "000003-000003.vpt: No such file" "$dir/tasks"
"$VPT" shard plan -q --shards=5 -o "$dir/other" "$t"
"$VPT" shard cut -q -o "$dir/other.vpt" "$dir/other" 3
bad "another plan" "a piece of another plan" "$dir/other.vpt"
refuses "the output is the trace" $USAGE "same file" shard cut -o "$t" "$plan" 3
refuses "cut: no such shard" $USAGE "cut: 99: the plan has shards 0 to" shard cut "$plan" 99
"$VPT" shard cut -q -o "$dir/range.vpt" "$plan" 3-5 && "$VPT" shard run -q --dir="$dir/a" "$plan" 3-5 &&
	"$VPT" shard run -q --dir="$dir/b" --piece="$dir/range.vpt" "$plan" 3-5
tap_run "a range" diff -r "$dir/a" "$dir/b"

# harmless FILE: the piece is refused with one line, or its result is the right one.
harmless() {
	rm -rf "$dir/bad"
	said=$("$VPT" shard run -q --dir="$dir/bad" --piece="$1" "$plan" 3 2>&1)
	case $? in
	0) cmp -s "$dir/bad"/*.part "$dir/whole/000003-000003.part" ;;
	$INPUT)
		refused=$((refused + 1))
		[ "$(printf '%s\n' "$said" | wc -l)" -eq 1 ]
		;;
	*) false ;;
	esac
}

cat >"$dir/forge.py" <<'EOF'
import struct, sys
table = []
for i in range(256):
    for _ in range(8):
        i = i >> 1 ^ (0x82F63B78 if i & 1 else 0)
    table.append(i)
def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 255]
    return crc ^ 0xffffffff
def read(path):
    with open(path, "rb") as f:
        data = f.read()
    at, blocks = 32, []
    while at < len(data):
        kind, vcpu, size = struct.unpack_from("<HHI", data, at + 4)
        blocks.append([kind, vcpu, data[at + 16:at + 16 + size]])
        at += 16 + (size + 7) // 8 * 8
    return data[:32], blocks
def write(path, head, blocks):
    with open(path, "wb") as f:
        f.write(head)
        for kind, vcpu, body in blocks:
            block = struct.pack("<IHHI", 0x4b4c4256, kind, vcpu, len(body))
            f.write(block + struct.pack("<I", crc32c(block + bytes(4) + body)) + body +
                    bytes(-len(body) % 8))
PIECE, TRACE, PAGE, MAP, SESSION = 0x8001, 5, 16, 17, 6
def find(blocks, kind, last=False):
    at = [i for i, b in enumerate(blocks) if b[0] == kind]
    return at[-1 if last else 0]
def piece(field, value):
    def change(blocks):
        at = find(blocks, PIECE)
        words = list(struct.unpack("<QIIQQQ", blocks[at][2]))
        words[field] = value(words[field]) if callable(value) else value
        blocks[at][2] = struct.pack("<QIIQQQ", *words)
    return change
def offset(kind, value, last=False, place=0):
    def change(blocks):
        at = find(blocks, kind, last)
        body = bytearray(blocks[at][2])
        struct.pack_into("<Q", body, place, value)
        blocks[at][2] = bytes(body)
    return change
def drop(kind, last=False):
    return lambda blocks: blocks.pop(find(blocks, kind, last))
def longest(blocks):
    return max((i for i, b in enumerate(blocks) if b[0] == TRACE), key=lambda i: len(blocks[i][2]))
def shorten(blocks):
    at = longest(blocks)
    blocks[at][2] = blocks[at][2][:-40]
def no_psb(blocks):
    at = longest(blocks)
    blocks[at][2] = blocks[at][2][:16] + bytes(len(blocks[at][2]) - 16)
def move(to):
    def change(blocks):
        b = blocks.pop(find(blocks, PIECE))
        blocks.insert(to if to >= 0 else len(blocks) - 1, b)
    return change
def vcpu(blocks):
    blocks[find(blocks, PIECE)][1] = 1
def zero_code(blocks):
    at = find(blocks, PAGE)
    blocks[at][2] = blocks[at][2][:16] + bytes(4096)
ways = {
    "bytes of 2^64 - 1": piece(3, 2 ** 64 - 1),
    "bytes of 2^43 + 1": piece(3, 2 ** 43 + 1),
    "bytes of 2^43, no PSB": lambda b: (piece(3, 2 ** 43)(b), no_psb(b)),
    "no bytes": piece(3, 0),
    "a byte less": piece(3, lambda n: n - 1),
    "more instructions": piece(4, lambda n: n + 1),
    "more errors": piece(5, 1),
    "shards descend": piece(1, 9),
    "another vCPU": vcpu,
    "no PIECE": drop(PIECE),
    "PIECE twice": lambda b: b.insert(2, list(b[find(b, PIECE)])),
    "PIECE behind the stream": move(-1),
    "no code": drop(MAP),
    "other code": zero_code,
    "no trace": lambda b: b.pop(longest(b)),
    "less trace": shorten,
    "zeros": no_psb,
    "trace at 2^60": offset(TRACE, 2 ** 60, True),
    "trace goes back": offset(TRACE, 0, True),
    "a session at 2^60": offset(SESSION, 2 ** 60, True, 16),
    "no session": drop(SESSION),
    "no end": lambda b: b.pop(),
}
if len(sys.argv) == 2:
    head, blocks = read(sys.argv[1])
    for name, way in ways.items():
        copy = [list(b) for b in blocks]
        way(copy)
        write(sys.argv[1] + "." + name.replace(" ", "_"), head, copy)
else:
    # Flip a bit at each of some places: in all headers, and everywhere else.
    with open(sys.argv[1], "rb") as f:
        data = f.read()
    for i in range(int(sys.argv[2])):
        copy = bytearray(data)
        copy[(i * 7 if i < 40 else i * 7919) % len(data)] ^= 1 << i % 8
        with open("%s.flip%d" % (sys.argv[1], i), "wb") as f:
            f.write(copy)
EOF
mkdir "$dir/forged"
cp "$one" "$dir/forged/p"
python3 -B "$dir/forge.py" "$dir/forged/p"
for file in "$dir/forged"/p.*; do
	bad "forged: $(echo "${file##*/p.}" | tr _ ' ')" "." "$file"
done
rm "$dir/forged"/p.*

python3 -B "$dir/forge.py" "$dir/forged/p" 80
refused=0 wrong=
for file in "$dir/forged"/p.*; do
	harmless "$file" || wrong="$wrong ${file##*.}: $said"
done
if [ -z "$wrong" ] && [ $refused -ge 70 ]; then tap_ok "bits that flip: refused $refused of 80"; else
	tap_fail "bits that flip: refused $refused of 80" "$wrong"
fi
rm "$dir/forged"/p.*
refused=0 wrong='' size=$(bytes "$one")
for part in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
	head -c $((size * part / 16)) "$one" >"$dir/forged/p.$part"
	harmless "$dir/forged/p.$part" || wrong="$wrong $part: $said"
done
if [ -z "$wrong" ] && [ $refused -eq 16 ]; then tap_ok "pieces that are cut off"; else
	tap_fail "pieces that are cut off: refused $refused" "$wrong"
fi
tap_end
