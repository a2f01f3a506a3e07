# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# fish completion for hwluks(8): commands, the options of each, devices, names of open mappings.
# tests/cli/docs.bats holds it against the option table.

set -g __hwluks_commands detect load advise format open close status refresh doctor fill initramfs luksFormat luksOpen luksClose

function __hwluks_no_command
    not __fish_seen_subcommand_from $__hwluks_commands
end

function __hwluks_command
    __fish_seen_subcommand_from $argv
end

function __hwluks_devices
    for d in /sys/class/block/*
        echo /dev/(basename $d)
    end
end

function __hwluks_mappings
    for m in /dev/mapper/*
        test $m = /dev/mapper/control; or basename $m
    end
end

complete -c hwluks -f
complete -c hwluks -n '__hwluks_command detect advise fill format luksFormat open luksOpen' -F -a '(__hwluks_devices)' -d Device
complete -c hwluks -n '__hwluks_command close luksClose status refresh doctor' -a '(__hwluks_mappings)' -d 'Open mapping'

complete -c hwluks -s '?' -l help -d 'Show this help, or that of a command'
complete -c hwluks -s V -l version -d 'Show the version'
complete -c hwluks -s v -l verbose -d 'Say more about what is done'
complete -c hwluks -l debug -d 'Say everything; never secrets'
complete -c hwluks -l json -d 'Print the result as one JSON document'
complete -c hwluks -l sysroot -x -a '(__fish_complete_directories)' -d 'Look at a recorded machine instead of this one'
complete -c hwluks -n __hwluks_no_command -a detect -d 'Show the accelerators here and the state of their drivers'
complete -c hwluks -n __hwluks_no_command -a load -d 'Load the drivers worth loading'
complete -c hwluks -n __hwluks_no_command -a advise -d 'Rank the cipher specs this machine can serve, or judge one'
complete -c hwluks -n __hwluks_no_command -a format -d 'Make a LUKS volume that this machine\'s hardware serves'
complete -c hwluks -n __hwluks_no_command -a open -d 'Open a LUKS volume and say what serves it'
complete -c hwluks -n __hwluks_no_command -a close -d 'Close a volume'
complete -c hwluks -n __hwluks_no_command -a status -d 'Say which driver serves an open volume, and how that is known'
complete -c hwluks -n __hwluks_no_command -a refresh -d 'Bind an open volume to the best driver now, or change its flags'
complete -c hwluks -n __hwluks_no_command -a doctor -d 'Say why encryption is slow here, and what mends it'
complete -c hwluks -n __hwluks_no_command -a fill -d 'Fill a device with random data'
complete -c hwluks -n __hwluks_no_command -a initramfs -d 'Put the accelerator\'s driver into the boot image'
complete -c hwluks -n '__hwluks_command initramfs' -a install -d 'Put the hooks in, rebuild, look into the images'
complete -c hwluks -n '__hwluks_command initramfs' -a check -d 'Look into the images'
complete -c hwluks -n '__hwluks_command initramfs' -a remove -d 'Take the hooks back and rebuild'
complete -c hwluks -n '__hwluks_command initramfs' -a modules -d 'Print the modules'
complete -c hwluks -n '__hwluks_command initramfs' -a deny -d 'Print what keeps udev from loading engines'

# load
complete -c hwluks -n '__hwluks_command load' -l dry-run -d 'Print the plan and change nothing'
complete -c hwluks -n '__hwluks_command load' -l no-verify -d 'Skip the known-answer test of an engine'
complete -c hwluks -n '__hwluks_command load' -l all -d 'Also drivers that would outrank the CPU or are known to be slower'
complete -c hwluks -n '__hwluks_command load' -l force -d 'Load over deny lists'
complete -c hwluks -n '__hwluks_command load' -l wait -x -d 'Longest wait for each driver (10)'
complete -c hwluks -n '__hwluks_command load' -l boot -d 'For boot scripts: one limit for all, never fail, heed hwluks=off'

# detect, advise, doctor
complete -c hwluks -n '__hwluks_command detect advise doctor' -l record -r -F -d 'Write all that was read into a new FILE, without names and ids'
complete -c hwluks -n '__hwluks_command detect advise doctor' -l replay -r -F -d 'Look at the machine recorded in FILE'

# doctor
complete -c hwluks -n '__hwluks_command doctor' -l measure -d 'Measure, also where no terminal is; --measure=SECONDS bounds the time (30). Needs root'
complete -c hwluks -n '__hwluks_command doctor' -l quick -d 'Measure nothing'

# advise
complete -c hwluks -n '__hwluks_command advise' -s c -l cipher -x -a 'aes-xts-plain64 aes-cbc-essiv:sha256 aes-cbc-plain64 xchacha12,aes-adiantum-plain64' -d 'Cipher spec: cipher-mode-iv, for example aes-xts-plain64'
complete -c hwluks -n '__hwluks_command advise' -s s -l key-size -x -a '128 192 256 512' -d 'Volume key size; XTS counts both keys'
complete -c hwluks -n '__hwluks_command advise' -l sector-size -x -a '512 1024 2048 4096' -d 'Encryption sector: 512, 1024, 2048 or 4096'

# format
complete -c hwluks -n '__hwluks_command format luksFormat' -s c -l cipher -x -a 'aes-xts-plain64 aes-cbc-essiv:sha256 aes-cbc-plain64 xchacha12,aes-adiantum-plain64' -d 'Cipher spec: cipher-mode-iv, for example aes-xts-plain64'
complete -c hwluks -n '__hwluks_command format luksFormat' -s s -l key-size -x -a '128 192 256 512' -d 'Volume key size; XTS counts both keys'
complete -c hwluks -n '__hwluks_command format luksFormat' -l sector-size -x -a '512 1024 2048 4096' -d 'Encryption sector: 512, 1024, 2048 or 4096'
complete -c hwluks -n '__hwluks_command format luksFormat' -s M -l type -x -a 'luks2 luks1 luks' -d 'luks2 (default for format), luks1, or luks'
complete -c hwluks -n '__hwluks_command format luksFormat' -l adapt -d 'Take the nearest spec the hardware serves instead of refusing'
complete -c hwluks -n '__hwluks_command format luksFormat' -l software -d 'Keep the spec asked for although it runs in software'
complete -c hwluks -n '__hwluks_command format luksFormat' -l dry-run -d 'Print the plan and change nothing'
complete -c hwluks -n '__hwluks_command format luksFormat' -s q -l batch-mode -d 'Ask no questions; the command line is the consent'
complete -c hwluks -n '__hwluks_command format luksFormat' -l wipe-signatures -d 'Destroy the file systems or other signatures found on DEVICE'
complete -c hwluks -n '__hwluks_command format luksFormat' -l replace-luks -d 'Destroy the LUKS volume found on DEVICE for good'
complete -c hwluks -n '__hwluks_command format luksFormat' -l old-header-backup -r -F -d 'Save the LUKS header found on DEVICE to FILE before replacing it'
complete -c hwluks -n '__hwluks_command format luksFormat' -l header -r -F -d 'Detached LUKS header'
complete -c hwluks -n '__hwluks_command format luksFormat' -l header-backup-file -r -F -d 'Save the new header to FILE (mode 0600) after success'
complete -c hwluks -n '__hwluks_command format luksFormat' -l label -x -d 'LUKS2 label'
complete -c hwluks -n '__hwluks_command format luksFormat' -l subsystem -x -d 'LUKS2 subsystem'
complete -c hwluks -n '__hwluks_command format luksFormat' -l uuid -x -d 'UUID of the new volume'
complete -c hwluks -n '__hwluks_command format luksFormat' -l fill -d 'Fill DEVICE with random data first'
complete -c hwluks -n '__hwluks_command format luksFormat' -s o -l offset -x -d 'Start of the data, in 512-byte sectors'
complete -c hwluks -n '__hwluks_command format luksFormat' -s h -l hash -x -a 'sha256 sha512' -d 'Hash of PBKDF2 and the anti-forensic splitter'
complete -c hwluks -n '__hwluks_command format luksFormat' -l pbkdf -x -a 'argon2id argon2i pbkdf2' -d 'argon2id, argon2i or pbkdf2'
complete -c hwluks -n '__hwluks_command format luksFormat' -s i -l iter-time -x -d 'Unlock time to aim at (2000)'
complete -c hwluks -n '__hwluks_command format luksFormat' -l pbkdf-memory -x -d 'Most memory for Argon2, bounded by half of what is free'
complete -c hwluks -n '__hwluks_command format luksFormat' -l pbkdf-parallel -x -d 'Threads for Argon2'
complete -c hwluks -n '__hwluks_command format luksFormat' -l pbkdf-force-iterations -x -d 'Fixed cost instead of a measured one'
complete -c hwluks -n '__hwluks_command format luksFormat' -l force-password -d 'Accepted for compatibility; hwluks checks no quality'
complete -c hwluks -n '__hwluks_command format luksFormat' -s d -l key-file -r -F -d 'Read the passphrase from FILE, - is stdin (newline counts)'
complete -c hwluks -n '__hwluks_command format luksFormat' -l keyfile-offset -x -d 'Skip this much of the key file'
complete -c hwluks -n '__hwluks_command format luksFormat' -s l -l keyfile-size -x -d 'Read only this much of the key file'
complete -c hwluks -n '__hwluks_command format luksFormat' -s y -l verify-passphrase -d 'Ask twice, also in batch mode'
complete -c hwluks -n '__hwluks_command format luksFormat' -s t -l timeout -x -d 'Limit of the prompt; 0 is none'

# open
complete -c hwluks -n '__hwluks_command open luksOpen' -s M -l type -x -a 'luks2 luks1 luks' -d 'luks2 (default for format), luks1, or luks'
complete -c hwluks -n '__hwluks_command open luksOpen' -s q -l batch-mode -d 'Ask no questions; the command line is the consent'
complete -c hwluks -n '__hwluks_command open luksOpen' -l header -r -F -d 'Detached LUKS header'
complete -c hwluks -n '__hwluks_command open luksOpen' -s d -l key-file -r -F -d 'Read the passphrase from FILE, - is stdin (newline counts)'
complete -c hwluks -n '__hwluks_command open luksOpen' -l keyfile-offset -x -d 'Skip this much of the key file'
complete -c hwluks -n '__hwluks_command open luksOpen' -s l -l keyfile-size -x -d 'Read only this much of the key file'
complete -c hwluks -n '__hwluks_command open luksOpen' -s S -l key-slot -x -d 'Try this key slot only'
complete -c hwluks -n '__hwluks_command open luksOpen' -s T -l tries -x -d 'Tries at the prompt (3)'
complete -c hwluks -n '__hwluks_command open luksOpen' -s t -l timeout -x -d 'Limit of the prompt; 0 is none'
complete -c hwluks -n '__hwluks_command open luksOpen' -s r -l readonly -d 'Open read-only'
complete -c hwluks -n '__hwluks_command open luksOpen' -l test-passphrase -d 'Check the passphrase, open nothing'
complete -c hwluks -n '__hwluks_command open luksOpen' -l require-accel -d 'Open nothing (exit 11) when no hardware would do the data'
complete -c hwluks -n '__hwluks_command open luksOpen' -l no-verify -d 'Skip the known-answer test of an engine'
complete -c hwluks -n '__hwluks_command open luksOpen' -l allow-discards -d 'Pass discards (TRIM) on; reveals which blocks are in use'
complete -c hwluks -n '__hwluks_command open luksOpen' -l persistent -d 'Keep these flags in the LUKS2 header'
complete -c hwluks -n '__hwluks_command open luksOpen' -l perf-same_cpu_crypt -d 'dm-crypt: encrypt on the CPU that asked'
complete -c hwluks -n '__hwluks_command open luksOpen' -l perf-submit_from_crypt_cpus -d 'dm-crypt: no extra thread to submit writes'
complete -c hwluks -n '__hwluks_command open luksOpen' -l perf-no_read_workqueue -d 'dm-crypt: decrypt without a workqueue'
complete -c hwluks -n '__hwluks_command open luksOpen' -l perf-no_write_workqueue -d 'dm-crypt: encrypt without a workqueue'
complete -c hwluks -n '__hwluks_command open luksOpen' -l perf-high_priority -d 'dm-crypt: high-priority workqueues (kernel 6.10)'
complete -c hwluks -n '__hwluks_command open luksOpen' -l token-id -x -d 'Use this LUKS2 token'
complete -c hwluks -n '__hwluks_command open luksOpen' -l token-type -x -d 'Use LUKS2 tokens of this type only'
complete -c hwluks -n '__hwluks_command open luksOpen' -l token-only -d 'Do not ask for a passphrase when no token fits'
complete -c hwluks -n '__hwluks_command open luksOpen' -l disable-locks -d 'No LUKS2 metadata locks'
complete -c hwluks -n '__hwluks_command open luksOpen' -l disable-keyring -d 'Volume key in the table, not in the kernel keyring'

# refresh
complete -c hwluks -n '__hwluks_command refresh' -l header -r -F -d 'Detached LUKS header'
complete -c hwluks -n '__hwluks_command refresh' -s d -l key-file -r -F -d 'Read the passphrase from FILE, - is stdin (newline counts)'
complete -c hwluks -n '__hwluks_command refresh' -l keyfile-offset -x -d 'Skip this much of the key file'
complete -c hwluks -n '__hwluks_command refresh' -s l -l keyfile-size -x -d 'Read only this much of the key file'
complete -c hwluks -n '__hwluks_command refresh' -s S -l key-slot -x -d 'Try this key slot only'
complete -c hwluks -n '__hwluks_command refresh' -s T -l tries -x -d 'Tries at the prompt (3)'
complete -c hwluks -n '__hwluks_command refresh' -s t -l timeout -x -d 'Limit of the prompt; 0 is none'
complete -c hwluks -n '__hwluks_command refresh' -l no-verify -d 'Skip the known-answer test of an engine'
complete -c hwluks -n '__hwluks_command refresh' -l clear-flags -d 'Leave no flag set'
complete -c hwluks -n '__hwluks_command refresh' -l allow-discards -d 'Pass discards (TRIM) on; reveals which blocks are in use'
complete -c hwluks -n '__hwluks_command refresh' -l persistent -d 'Keep these flags in the LUKS2 header'
complete -c hwluks -n '__hwluks_command refresh' -l perf-same_cpu_crypt -d 'dm-crypt: encrypt on the CPU that asked'
complete -c hwluks -n '__hwluks_command refresh' -l perf-submit_from_crypt_cpus -d 'dm-crypt: no extra thread to submit writes'
complete -c hwluks -n '__hwluks_command refresh' -l perf-no_read_workqueue -d 'dm-crypt: decrypt without a workqueue'
complete -c hwluks -n '__hwluks_command refresh' -l perf-no_write_workqueue -d 'dm-crypt: encrypt without a workqueue'
complete -c hwluks -n '__hwluks_command refresh' -l perf-high_priority -d 'dm-crypt: high-priority workqueues (kernel 6.10)'
complete -c hwluks -n '__hwluks_command refresh' -l token-id -x -d 'Use this LUKS2 token'
complete -c hwluks -n '__hwluks_command refresh' -l token-type -x -d 'Use LUKS2 tokens of this type only'
complete -c hwluks -n '__hwluks_command refresh' -l token-only -d 'Do not ask for a passphrase when no token fits'
complete -c hwluks -n '__hwluks_command refresh' -l disable-locks -d 'No LUKS2 metadata locks'
complete -c hwluks -n '__hwluks_command refresh' -l disable-keyring -d 'Volume key in the table, not in the kernel keyring'

# fill
complete -c hwluks -n '__hwluks_command fill' -l dry-run -d 'Print the plan and change nothing'
complete -c hwluks -n '__hwluks_command fill' -s q -l batch-mode -d 'Ask no questions; the command line is the consent'
complete -c hwluks -n '__hwluks_command fill' -l wipe-signatures -d 'Destroy the file systems or other signatures found on DEVICE'
complete -c hwluks -n '__hwluks_command fill' -l replace-luks -d 'Destroy the LUKS volume found on DEVICE for good'
complete -c hwluks -n '__hwluks_command fill' -s o -l offset -x -d 'Start of what is filled, in 512-byte sectors'
complete -c hwluks -n '__hwluks_command fill' -l length -x -d 'Fill only this many 512-byte sectors'
complete -c hwluks -n '__hwluks_command fill' -l engine -x -a 'auto aes chacha urandom' -d 'aes, chacha, urandom, or auto: the fastest here (default)'
complete -c hwluks -n '__hwluks_command fill' -l rate-limit -x -d 'Write at most this much per second'
complete -c hwluks -n '__hwluks_command fill' -l priority -x -a 'auto idle normal' -d 'idle, normal, or auto: idle where the disk is shared (default)'
complete -c hwluks -n '__hwluks_command fill' -l verify -d 'Read everything back and compare it'
complete -c hwluks -n '__hwluks_command fill' -l resume -d 'Go on with the fill that was interrupted'
complete -c hwluks -n '__hwluks_command fill' -l restart -d 'Begin anew although a fill was interrupted'
complete -c hwluks -n '__hwluks_command fill' -l state -r -F -d 'Keep the record for a resume in FILE, not on DEVICE'
complete -c hwluks -n '__hwluks_command fill' -l progress-json -d 'Print progress as one JSON object a line'

# close
complete -c hwluks -n '__hwluks_command close luksClose' -l deferred -d 'Close when the last user is gone'

# initramfs
complete -c hwluks -n '__hwluks_command initramfs' -l header -r -F -d 'Detached LUKS header'
complete -c hwluks -n '__hwluks_command initramfs' -l accelerator -x -d 'Plan for this accelerator, here or not'
complete -c hwluks -n '__hwluks_command initramfs' -l kernel -x -d 'Plan for this installed kernel instead of the running one'
complete -c hwluks -n '__hwluks_command initramfs' -l crypttab -r -F -d 'Take the volumes from FILE instead of /etc/crypttab'
complete -c hwluks -n '__hwluks_command initramfs' -l root -r -F -d 'Install, check or remove in the system below DIR'
complete -c hwluks -n '__hwluks_command initramfs' -l generator -x -a 'initramfs-tools dracut mkinitcpio' -d 'Which builder, where several are installed'
complete -c hwluks -n '__hwluks_command initramfs' -l dry-run -d 'Print the plan and change nothing'
