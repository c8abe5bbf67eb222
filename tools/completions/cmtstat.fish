# SPDX-License-Identifier: GPL-2.0-or-later
# fish completion for cmtstat(1)
complete -c cmtstat -f
complete -c cmtstat -s b -l by -x -a 'container process cpu domain' -d 'Rows are'
complete -c cmtstat -s e -l expand -d 'Show the processes of containers'
complete -c cmtstat -s i -l interval -x -d 'Seconds between tables'
complete -c cmtstat -s n -l count -x -d 'End after N tables'
complete -c cmtstat -s j -l json -d 'Print JSON'
complete -c cmtstat -s c -l csv -d 'Print comma-separated values'
complete -c cmtstat -s p -l plain -d 'Never redraw the screen'
complete -c cmtstat -s s -l sort -x -a 'occupancy total local name number rmids busy' -d 'Order of the rows'
complete -c cmtstat -s t -l top -x -d 'Show the first N rows only'
complete -c cmtstat -s f -l filter -x -d 'Show only matching rows'
complete -c cmtstat -s d -l device -r -F -d 'Read another device'
complete -c cmtstat -s h -l help -d 'Print a summary and exit'
complete -c cmtstat -s V -l version -d 'Print the version and exit'
