# SPDX-License-Identifier: GPL-2.0-or-later
# fish completion for cmtctl(1)
complete -c cmtctl -f
complete -c cmtctl -n __fish_use_subcommand -a 'info rmids show stats interval scope attach detach'
complete -c cmtctl -n '__fish_seen_subcommand_from interval' -a '100us 500us 1ms 10ms 100ms 1s'
complete -c cmtctl -n '__fish_seen_subcommand_from scope' -a 'process container cpu manual'
complete -c cmtctl -n '__fish_seen_subcommand_from attach detach; and not __fish_seen_subcommand_from pid cgroup cpu' -a 'pid cgroup cpu'
complete -c cmtctl -n '__fish_seen_subcommand_from pid' -a '(__fish_complete_pids)'
complete -c cmtctl -n '__fish_seen_subcommand_from cgroup' -a '(__fish_complete_directories /sys/fs/cgroup/)'
complete -c cmtctl -s j -l json -d 'Print JSON'
complete -c cmtctl -s c -l children -d 'Attach with all later children'
complete -c cmtctl -s p -l patterns -x -d 'Cgroups that are containers'
complete -c cmtctl -s f -l file -r -F -d 'Read patterns from a file'
complete -c cmtctl -s F -l force -d 'Even if no container can be seen'
complete -c cmtctl -s d -l device -r -F -d 'Ask another device'
complete -c cmtctl -s h -l help -d 'Print a summary and exit'
complete -c cmtctl -s V -l version -d 'Print the version and exit'
