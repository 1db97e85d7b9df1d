#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt report --serve: the page, the details, and what the server refuses.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh

server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$dir"' EXIT

# Start a server with options, and wait for its URL.
serve() {
	: >"$dir/url"
	"$VPT" report -q "$@" >"$dir/url" 2>"$dir/err" &
	server=$!
	n=0
	while [ ! -s "$dir/url" ] && [ $n -lt 600 ] && kill -0 "$server" 2>/dev/null; do
		sleep 0.1
		n=$((n + 1))
	done
	url=$(cat "$dir/url")
}

stop() { # SIGNAL: end the server. Returns its status.
	kill "-$1" "$server"
	wait "$server"
	status=$?
	server=
	return $status
}

# A port that is free now.
free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

"$VPT" run -q --engine=soft --pt=host --cpus=2 -o "$dir/t.vpt" "$GUEST/smp.elf" >/dev/null
"$VPT" report -q -o "$dir/page" "$dir/t.vpt"
serve --serve "$dir/t.vpt"
tap_run "the address is printed" grep -qE '^http://127\.0\.0\.1:[0-9]+/[0-9a-f]{32}/$' "$dir/url"
tap_run "only the loopback address has a listener" python3 - "$url" <<'EOF'
import sys, urllib.parse
port = "%04X" % urllib.parse.urlsplit(sys.argv[1]).port
rows = [line.split() for name in ("/proc/net/tcp", "/proc/net/tcp6") for line in open(name)]
at = [row[1] for row in rows if row[1].endswith(":" + port) and row[3] == "0A"]
sys.exit(at != ["0100007F:" + port])
EOF
tap_run "the page, the details and the refusals" python3 tests/cli/formats/report_serve.py "$url" "$dir/page"
first=$url
stop INT
tap_run "SIGINT ends it" test $? -eq 0
tap_run "without a message" test ! -s "$dir/err"

port=$(free_port)
serve --serve="$port" --from=100 "$dir/t.vpt"
tap_run "a given port" grep -q "^http://127.0.0.1:$port/" "$dir/url"
tap_run "another token" test "${first#*/*/*/}" != "${url#*/*/*/}"
"$VPT" report -q -o "$dir/page" --from=100 "$dir/t.vpt"
refuses "a port in use" "$HOST" "Address already in use" report --serve="$port" "$dir/t.vpt"
tap_run "a part" python3 tests/cli/formats/report_serve.py "$url" "$dir/page" part
stop TERM
tap_run "SIGTERM ends it" test $? -eq 0

rm -f "$dir/t.vpt"
"$VPT" run -q --engine=soft --pt=host -o "$dir/t.vpt" "$GUEST/processes.elf" >/dev/null
"$VPT" report -q -o "$dir/page" "$dir/t.vpt"
serve --serve --sandbox=auto "$dir/t.vpt"
tap_run "six address spaces" python3 tests/cli/formats/report_serve.py "$url" "$dir/page"
stop INT
tap_run "it ends" test $? -eq 0

refuses "no port" "$USAGE" "not a number" report --serve=http "$dir/t.vpt"
refuses "a port that is too large" "$USAGE" "use 0 to 65535" report --serve=65536 "$dir/t.vpt"
refuses "both --serve and --output" "$USAGE" "not with --output" report --serve -o "$dir/x" "$dir/t.vpt"
refuses "a file that is not there" "$INPUT" "No such file" report --serve "$dir/none"
tap_end
