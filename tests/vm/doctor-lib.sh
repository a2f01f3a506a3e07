# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: what doctor says of faults that are really there, and its remedies carried out as printed; sourced after volume-lib.sh.
# Must not know: which fault the guest has.

# Where the passphrase comes from when a printed remedy asks for one.
remedy_key=$pw

# Ids of the findings that nothing explains, in their order.
findings() {
	awk '/"findings": *\[/ { on = 1 } /"unread"/ { on = 0 }
		on && /"id":/ { id = $2 } on && /"severity":/ { sev = $2 }
		on && /"absorbed_by": null/ { gsub(/[",]/, "", id); gsub(/[",]/, "", sev); print id "=" sev }' "$OUT"
}
first_finding() { findings | head -n 1; }
# The first finding's remedy; nothing when it has none.
first_remedy() { sed -n '/"remedy":/{s/^ *"remedy": *"\(.*\)",$/\1/;s/^ *"remedy": *null,$//;s/\\\//\//g;p;q}' "$OUT"; }

# doctor names it first. $1: description; $2: id=severity; $3: exit code; rest: doctor's arguments.
names_first() {
	n_what=$1 n_want=$2 n_rc=$3
	shift 3
	run "$n_rc" "$n_what: exit code" hwluks --json doctor "$@"
	is "$n_what: named first" "$(first_finding)" "$n_want"
	remedy=$(first_remedy)
	cp "$OUT" /run/doctor.json
	hwluks doctor "$@" >/run/doctor.text 2>&1
	is "$n_what: no line is wider than 79" "$(awk 'length > 79 && !/^    /' /run/doctor.text)" ''
}

# Runs the remedy as it was printed. $1: description; $2: what it must be, a pattern.
apply_remedy() {
	like "$1: the remedy" "$remedy" "$2"
	ok "$1: the remedy works" sh -c "{ $remedy; } <$remedy_key"
}

# $1: description; $2: id; rest: doctor's arguments. Exit code 0 or 12: others may be there.
gone() {
	g_what=$1 g_id=$2
	shift 2
	hwluks --json doctor "$@" >"$OUT" 2>"$ERR"
	g_rc=$?
	unlike "$g_what: gone" " $(findings | tr '\n' ' ')" "* $g_id=*"
	case $(findings) in
	*=warning* | *=problem*) is "$g_what: exit code" $g_rc 12 ;;
	*) is "$g_what: exit code" $g_rc 0 ;;
	esac
}
