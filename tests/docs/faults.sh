#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# examples.sh and names.sh notice each kind of fault that an example can have: they are run
# on a copy of the tree with a document that has one of each.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/lib/tap.sh
. tests/lib/tap.sh
O=${O:-build/${MODE:-rel}}
[[ $O == /* ]] || O=$PWD/$O
export O
copy=$(mktemp -d) || exit 1
trap 'rm -rf "$copy"' EXIT
.ci/files '.ci/*' 'tests/docs/*' 'tests/lib/*.sh' 'docs/*' Makefile '*/build.mk' |
	xargs cp -p --parents -t "$copy"
cd "$copy" || exit 1

cat >docs/fault.md <<'END'
```sh
true
false
false  # ends with exit status 1
vpt run --no-such-option
vpt dump missing.vpt | head
make no-such-target
```

```console
$ echo one; echo two
one
three
$ echo one; echo 2.5 s
one
0.1 s
$ echo one; echo two; echo three
...
three
```

```
a block without a language
```

    an indented block

```text
vpt info t.vpt
```

```c
int nowhere;
```

```xml
<a/>
```

`vpt run --no-such-option`, `make no-such-target`, [no file](no-such-file.md)
END
printf 'docs/fault.md\tint x;\tnone\tstale\n' >tests/docs/elsewhere
printf 'docs/fault.md\t<a/>\techo "<b/>" | holds\n' >tests/docs/samples
: >tests/docs/given
EXAMPLES_OF=docs/fault.md tests/docs/examples.sh >examples.tap 2>&1
EXAMPLES_OF=docs/fault.md tests/docs/names.sh >names.tap 2>&1

# said ok|not-ok NAME: the result of the example of that name.
said() {
	tap_run "$1: $2" grep -qE "^${1/-/ } [0-9]+ - (docs/fault.md:[0-9]+: )?$2\$" examples.tap
}
said ok 'true'
said not-ok 'false'
said ok 'false'
said not-ok 'vpt run --no-such-option'
said not-ok 'vpt dump missing.vpt \| head'
said not-ok 'make no-such-target'
said not-ok 'echo one; echo two'
said ok 'echo one; echo 2.5 s'
said ok 'echo one; echo two; echo three'
said not-ok 'a block without a language'
said not-ok 'an indented block'
said not-ok 'vpt info t.vpt'
said not-ok 'int nowhere;'
said not-ok '<a/>'
said not-ok 'tests/docs/elsewhere: docs/fault.md.int x;'
tap_run "an option that is none" grep -q '^# docs/fault.md:[0-9]*: --no-such-option' names.tap
tap_run "a target that is none" grep -q '^# docs/fault.md:[0-9]*:`make no-such-target' names.tap
tap_run "a file that is none" grep -q '^# docs/fault.md:[0-9]*: no-such-file.md' names.tap
tap_end
