# SPDX-License-Identifier: GPL-2.0-or-later
# Extract the examples of one document.
#
# usage: awk -v format=FORMAT -v name=NAME -v dir=DIR -f extract.awk DOCUMENT >index
#
# FORMAT is md (Markdown), man (a manual page) or help (what vpt VERB --help prints). One
# line of the index describes one example:
#
#   ID <tab> KIND <tab> NAME:LINE <tab> KEY
#
# KIND is
#   run      a shell command; DIR/ID.cmd holds it, DIR/ID.want its output if one is shown
#   guest    a command at a guest's prompt ("guest# ")
#   code     a block of another language (c, xml, json); DIR/ID.want holds it
#   sample   output shown without the command that prints it; DIR/ID.want holds it
#   bad      a block without a language, or a command in a block of text
# KEY is the first line of the example without its comment, with single blanks.

function key_of(text) {
	sub(/\n.*/, "", text)
	if (kind_of != "sample")
		sub(/[ \t]+# .*$/, "", text)
	gsub(/[ \t]+/, " ", text)
	sub(/^ /, "", text)
	sub(/ $/, "", text)
	return text
}

function begin(kind, line, text) {
	finish()
	id = sprintf("%s%03d", prefix, ++count)
	open = 1
	kind_of = kind
	line_of = line
	command = text
	output = ""
	shown = 0
}

function finish() {
	if (!open)
		return
	open = 0
	printf "%s\t%s\t%s:%d\t%s\n", id, kind_of, name, line_of,
		key_of(kind_of == "sample" ? output : command)
	if (kind_of == "run" || kind_of == "guest")
		printf "%s\n", command >(dir "/" id ".cmd")
	if (kind_of == "code")
		printf "%s\n", command >(dir "/" id ".want")
	else if (shown)
		printf "%s", output >(dir "/" id ".want")
	close(dir "/" id ".cmd")
	close(dir "/" id ".want")
}

function show(text) {
	output = output text "\n"
	shown = 1
}

# True if the command so far goes on in the next line.
function goes_on(text) {
	return text ~ /\\$/ || text ~ /(&&|\|\||\|)[ \t]*$/
}

# One line of a block of shell commands without prompts.
function shell_line(text) {
	if (heredoc != "") {
		command = command "\n" text
		if (text == heredoc)
			heredoc = ""
		return
	}
	if (more) {
		command = command "\n" text
	} else {
		finish()
		if (text ~ /^[ \t]*(#.*)?$/)
			return
		begin("run", FNR, text)
	}
	more = goes_on(text)
	if (match(text, /<<'[A-Z]+'/))
		heredoc = substr(text, RSTART + 3, RLENGTH - 4)
}

# One line of a terminal: a prompt and a command, or output.
function console_line(text) {
	if (open && more) {
		command = command "\n" text
		more = goes_on(text)
	} else if (text ~ /^\$ /) {
		begin("run", FNR, substr(text, 3))
		more = goes_on(text)
	} else if (text ~ /^guest[#$] /) {
		begin("guest", FNR, substr(text, 8))
		more = goes_on(text)
	} else if (open) {
		show(text)
	}
}

function is_command(text) {
	return text ~ /^([$#] )?(sudo )?(vpt|make|perf|virsh|gcc|git|insmod|rmmod|qemu-system-x86_64|build\/[^ ]*|patches\/[^ ]*|tests\/[^ ]*) [^ ]/
}

function start_block(text) {
	language = text
	sub(/^```/, "", language)
	heredoc = ""
	more = 0
	first = 1
}

function end_block() {
	finish()
	language = ""
	inside = 0
}

format == "md" && /^```/ {
	if (inside) {
		end_block()
	} else {
		inside = 1
		start_block($0)
		if (language == "") {
			begin("bad", FNR, "a block without a language")
			language = "none"
		}
	}
	next
}

format == "md" && inside {
	if (language == "sh")
		shell_line($0)
	else if (language == "console")
		console_line($0)
	else if (language == "text" && is_command($0))
		begin("bad", FNR, $0)
	else if (language != "text" && language != "none") {
		if (first)
			begin("code", FNR, $0)
		else
			command = command "\n" $0
	}
	first = 0
	next
}

# An indented block: four blanks after an empty line, outside of a list.
format == "md" {
	if (/^    [^ ]/ && blank && !list && !indented) {
		begin("bad", FNR, "an indented block")
		indented = 1
	}
	if (/^[^ ]/) {
		finish()
		indented = 0
		list = /^([-*]|[0-9]+\.) /
	}
	blank = /^$/
	next
}

function plain(text) {
	gsub(/\\fI[^\\]*\\fR/, "...", text)
	gsub(/\\f[BIRP]/, "", text)
	gsub(/\\-/, "-", text)
	gsub(/\\e/, "\\", text)
	gsub(/\\&/, "", text)
	return text
}

format == "man" && /^\.(EX|nf)$/ {
	inside = 1
	language = ""
	heredoc = ""
	more = 0
	next
}

format == "man" && /^\.(EE|fi)$/ {
	end_block()
	next
}

format == "man" && inside {
	text = plain($0)
	if (language == "") {
		language = is_command(text) ? "sh" : "sample"
		if (language == "sample")
			begin("sample", FNR, "")
	}
	if (language == "sh")
		shell_line(text)
	else
		show(text)
	next
}

# A command is indented by two blanks; what follows two more is its description. Other lines
# that are indented by two are output, unless they describe options or verbs.
format == "help" && /^  [^ -]/ && FNR > 2 {
	text = substr($0, 3)
	if (is_command(text)) {
		sub(/   ?[ ]*[^ ].*$/, "", text)
		begin("run", FNR, text)
		finish()
		sampling = 0
	} else if (name !~ /^vpt --help/) {
		if (!sampling)
			begin("sample", FNR, "")
		sampling = 1
		# A capital stands for a number or a name.
		text = " " text " "
		while (match(text, / [A-Z] /))
			text = substr(text, 1, RSTART) "..." substr(text, RSTART + 2)
		show(substr(text, 2, length(text) - 2))
	}
	next
}

format == "help" {
	finish()
	sampling = 0
}

END {
	finish()
}
