# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# bash completion for hwluks(8): commands, the options of each, devices, names of open mappings.
# Needs nothing of the bash-completion package. tests/cli/docs.bats holds it against the option table.
# shellcheck shell=bash

# $1: a command. Prints its options.
_hwluks_options() {
	case $1 in
	load)
		echo "--dry-run --no-verify --all --force --wait --boot"
		;;
	detect)
		echo "--record --replay"
		;;
	doctor)
		echo "--record --replay --measure --quick"
		;;
	advise)
		echo "--record --replay --cipher -c --key-size -s --sector-size"
		;;
	format | luksFormat)
		echo "--cipher -c --key-size -s --sector-size --type -M --adapt --software --dry-run --batch-mode -q
			--wipe-signatures --replace-luks --old-header-backup --header --header-backup-file --label
			--subsystem --uuid --fill --offset -o --hash -h --pbkdf --iter-time -i --pbkdf-memory --pbkdf-parallel
			--pbkdf-force-iterations --force-password --key-file -d --keyfile-offset --keyfile-size -l
			--verify-passphrase -y --timeout -t"
		;;
	open | luksOpen)
		echo "--type -M --batch-mode -q --header --key-file -d --keyfile-offset --keyfile-size -l --key-slot
			-S --tries -T --timeout -t --readonly -r --test-passphrase --require-accel --no-verify
			--allow-discards --persistent --perf-same_cpu_crypt --perf-submit_from_crypt_cpus
			--perf-no_read_workqueue --perf-no_write_workqueue --perf-high_priority --token-id --token-type
			--token-only --disable-locks --disable-keyring"
		;;
	refresh)
		echo "--header --key-file -d --keyfile-offset --keyfile-size -l --key-slot -S --tries -T --timeout -t --no-verify
			--clear-flags --allow-discards --persistent --perf-same_cpu_crypt --perf-submit_from_crypt_cpus
			--perf-no_read_workqueue --perf-no_write_workqueue --perf-high_priority --token-id --token-type
			--token-only --disable-locks --disable-keyring"
		;;
	fill)
		echo "--dry-run --batch-mode -q --wipe-signatures --replace-luks --offset -o --length --engine --rate-limit
			--priority --verify --resume --restart --state --progress-json"
		;;
	close | luksClose)
		echo "--deferred"
		;;
	initramfs)
		echo "--header --accelerator --kernel --crypttab --root --generator --dry-run"
		;;
	esac
}

# Block devices, by path. /sys lists them without root.
_hwluks_devices() {
	local d
	for d in /sys/class/block/*; do
		[[ -e $d ]] && echo "/dev/${d##*/}"
	done
}

# Names of open mappings.
_hwluks_mappings() {
	local m
	for m in /dev/mapper/*; do
		[[ -e $m && $m != /dev/mapper/control ]] && echo "${m##*/}"
	done
}

# Versions of the kernels that are installed.
_hwluks_kernels() {
	local k
	for k in /lib/modules/*/modules.dep; do
		[[ -e $k ]] && k=${k%/*} && echo "${k##*/}"
	done
}

_hwluks() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command='' word i args=0 skip=0
	local global='--help -? --version -V --verbose -v --debug --json --sysroot'
	COMPREPLY=()

	# the command is the first word that is neither an option nor the value of one
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if ((skip)); then
			skip=0
			continue
		fi
		case $word in
		--sysroot | --record | --replay | --cipher | --key-size | --sector-size | --type | --old-header-backup | --header | \
			--header-backup-file | --label | --subsystem | --uuid | --offset | --hash | --pbkdf | --iter-time | --pbkdf-memory | --pbkdf-parallel | \
			--pbkdf-force-iterations | --key-file | --keyfile-offset | --keyfile-size | --key-slot | --tries | --timeout | \
			--token-id | --token-type | --wait | --length | --engine | --rate-limit | --priority | --state | --accelerator | --kernel | --crypttab | -c | -s | -M | -o | -h | -i | -d | -l | -S | -T | -t) skip=1 ;;
		-*) ;;
		*) if [[ -z $command ]]; then command=$word; else args=$((args + 1)); fi ;;
		esac
	done

	case $prev in
	--sysroot)
		mapfile -t COMPREPLY < <(compgen -d -- "$cur")
		return ;;
	--cipher | -c)
		mapfile -t COMPREPLY < <(compgen -W 'aes-xts-plain64 aes-cbc-essiv:sha256 aes-cbc-plain64 xchacha12,aes-adiantum-plain64' -- "$cur")
		return ;;
	--key-size | -s)
		mapfile -t COMPREPLY < <(compgen -W '128 192 256 512' -- "$cur")
		return ;;
	--sector-size)
		mapfile -t COMPREPLY < <(compgen -W '512 1024 2048 4096' -- "$cur")
		return ;;
	--type | -M)
		mapfile -t COMPREPLY < <(compgen -W 'luks2 luks1 luks' -- "$cur")
		return ;;
	--pbkdf)
		mapfile -t COMPREPLY < <(compgen -W 'argon2id argon2i pbkdf2' -- "$cur")
		return ;;
	--hash | -h)
		mapfile -t COMPREPLY < <(compgen -W 'sha256 sha512' -- "$cur")
		return ;;
	--engine)
		mapfile -t COMPREPLY < <(compgen -W 'auto aes chacha urandom' -- "$cur")
		return ;;
	--priority)
		mapfile -t COMPREPLY < <(compgen -W 'auto idle normal' -- "$cur")
		return ;;
	--kernel)
		mapfile -t COMPREPLY < <(compgen -W "$(_hwluks_kernels)" -- "$cur")
		return ;;
	--key-file | -d | --state | --crypttab | --header | --header-backup-file | --old-header-backup)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return ;;
	esac
	((skip)) && return

	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$global $(_hwluks_options "$command")" -- "$cur")
		return
	fi
	case $command in
	'')
		mapfile -t COMPREPLY < <(compgen -W 'detect load advise format open close status refresh doctor fill initramfs' -- "$cur") ;;
	detect | advise | fill | format | luksFormat | open | luksOpen)
		((args == 0)) && mapfile -t COMPREPLY < <(compgen -W "$(_hwluks_devices)" -- "$cur"; compgen -f -- "$cur") ;;
	initramfs)
		((args == 0)) && mapfile -t COMPREPLY < <(compgen -W "install check remove modules deny" -- "$cur") ;;
	close | luksClose | status | refresh | doctor)
		((args == 0)) && mapfile -t COMPREPLY < <(compgen -W "$(_hwluks_mappings)" -- "$cur") ;;
	esac
}

complete -o filenames -F _hwluks hwluks
