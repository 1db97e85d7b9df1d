# SPDX-License-Identifier: GPL-2.0-or-later
# A call tree as a picture: vpt decode --calls FILE | awk -f docs/calls.awk >tree.svg
# A box is a function called from the one above it, as wide as the instructions it
# took with all that it called.
BEGIN {
	width = 960
	height = 19
}

# "    3x  study_formula  (1168741 insns)"
match($0, /^ *[0-9]+x  /) {
	indent = $0
	sub(/[0-9].*/, "", indent)
	n++
	depth[n] = length(indent) / 2 - 1
	calls[n] = $1
	name[n] = $2
	insns[n] = substr($3, 2) + 0
	if (depth[n] == 0)
		total += insns[n]
}

function escape(s) {
	gsub(/&/, "\\&amp;", s)
	gsub(/</, "\\&lt;", s)
	gsub(/>/, "\\&gt;", s)
	return s
}

END {
	if (!total)
		exit 1
	for (i = 1; i <= n; i++) {
		d = depth[i]
		# Callees stand side by side below their caller, from its left edge on.
		x[i] = d ? next_x[d - 1] : next_root
		w[i] = insns[i] * width / total
		if (d)
			next_x[d - 1] += w[i]
		else
			next_root += w[i]
		next_x[d] = x[i]
		if (w[i] >= 1 && d > deepest)
			deepest = d
	}
	bottom = (deepest + 1) * height + 1
	print "<!-- SPDX-License-Identifier: GPL-2.0-or-later -->"
	print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" width "\" height=\"" bottom \
		"\" viewBox=\"0 0 " width " " bottom "\" font-family=\"monospace\" font-size=\"11\">"
	for (i = 1; i <= n; i++) {
		if (w[i] < 1)
			continue
		fits = int((w[i] - 8) / 6.7)
		text = name[i]
		if (length(text) > fits)
			text = fits > 3 ? substr(text, 1, fits - 1) "~" : ""
		y = depth[i] * height
		hue = 20 + (depth[i] * 23 + length(name[i]) * 7) % 40
		printf "<g><title>%s %s, %d instructions</title>", calls[i], escape(name[i]), insns[i]
		printf "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" rx=\"2\" " \
			"fill=\"hsl(%d,75%%,72%%)\" stroke=\"#fff\"/>", x[i], y, w[i], height, hue
		if (text != "")
			printf "<text x=\"%.1f\" y=\"%d\">%s</text>", x[i] + 4, y + 13, escape(text)
		print "</g>"
	}
	print "</svg>"
}
