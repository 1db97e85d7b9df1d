# SPDX-License-Identifier: GPL-2.0-or-later
# Judge the ledger of against.sh.
#
# usage: awk -F '\t' -v base=HASH -v rounds=N -v out=FILE.json -f verdict.awk ROWS LEDGER
#
# A line of LEDGER is ROW, round, side (base, new, again) and microseconds; with the side
# "times", how often the command ran in one measurement. Prints a table, writes FILE.json,
# and exits with 1 if a row is slower.

FILENAME != last { last = FILENAME; file++ }
file == 1 { if (!/^#/) order[++n] = $1; next }
$3 == "times" { times[$1] = $4; next }
$2 <= rounds {
	if (!(($1, $3) in best) || $4 < best[$1, $3])
		best[$1, $3] = $4
}
END {
	printf "%-40s %12s %12s %7s %7s  %s\n", "row", "base", "new", "ratio", "A/A", "verdict"
	for (i = 1; i <= n; i++) {
		row = order[i]
		if (!((row, "again") in best))
			continue
		a = best[row, "base"] / times[row]
		b = best[row, "again"] / times[row]
		new = best[row, "new"] / times[row]
		mean = (a + b) / 2
		ratio = new / mean
		spread = (a > b ? a - b : b - a) / mean
		limit = 2 * spread > 0.02 ? 2 * spread : 0.02
		verdict = ratio > 1 + limit ? "slower" : "ok"
		passed += verdict == "ok"
		failed += verdict != "ok"
		printf "%-40s %9.1f us %9.1f us %7.3f %6.2f%%  %s\n", row, mean, new, ratio, spread * 100, verdict
		json = json sprintf("%s{\"row\": \"%s\", \"base_us\": %.2f, \"again_us\": %.2f, \"new_us\": %.2f, " \
			"\"ratio\": %.4f, \"spread\": %.4f, \"verdict\": \"%s\"}", json ? ",\n  " : "", row, a, b, new,
			ratio, spread, verdict)
	}
	printf "{\"base\": \"%s\", \"rounds\": %d, \"rows\": [\n  %s\n]}\n", base, rounds, json >out
	printf "%d passed, %d failed\n", passed, failed
	exit failed > 0
}
