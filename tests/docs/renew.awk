# SPDX-License-Identifier: GPL-2.0-or-later
# Write the output of one console example anew.
#
# usage: awk -v line=N -v got=FILE -f renew.awk DOCUMENT
#
# N is the line of the example's command; FILE holds what the command printed. Where the
# document shows "..." lines, each line that it shows is replaced by the next one of FILE
# that differs from it in digits alone.

function skeleton(text) {
	gsub(/[0-9]+/, "#", text)
	gsub(/[ \t]+/, " ", text)
	return text
}

function renew(    i, j, partly) {
	for (i = 1; i <= shown; i++)
		partly = partly || old[i] == "..."
	if (!partly) {
		for (j = 1; j <= printed; j++)
			print new[j]
		return
	}
	for (i = 1; i <= shown; i++) {
		for (j = at + 1; j <= printed; j++)
			if (skeleton(new[j]) == skeleton(old[i]))
				break
		if (old[i] == "..." || j > printed) {
			print old[i]
		} else {
			print new[j]
			at = j
		}
	}
}

BEGIN {
	while ((getline text < got) > 0)
		new[++printed] = text
}

FNR < line {
	print
	next
}

!renewed {
	if (FNR == line || more) {
		more = /\\$/ || /(&&|\|\||\|)[ \t]*$/
		print
		next
	}
	if (/^\$ / || /^guest[#$] / || /^```/) {
		renew()
		renewed = 1
		print
		next
	}
	old[++shown] = $0
	next
}

{
	print
}
