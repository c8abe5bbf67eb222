# SPDX-License-Identifier: GPL-2.0-or-later
# fish completion for cmtctl(1)
complete -c cmtctl -f
complete -c cmtctl -n __fish_use_subcommand -a 'info rmids stats interval'
complete -c cmtctl -n '__fish_seen_subcommand_from interval' -a '100us 500us 1ms 10ms 100ms 1s'
complete -c cmtctl -s j -l json -d 'Print JSON'
complete -c cmtctl -s d -l device -r -F -d 'Ask another device'
complete -c cmtctl -s h -l help -d 'Print a summary and exit'
complete -c cmtctl -s V -l version -d 'Print the version and exit'
