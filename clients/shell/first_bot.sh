#!/bin/sh
# A bot in shell: Connect-4, any column that is open. One line comes in for each of its turns, one line goes out.
#
#     quintain play --game connect-4 --bot ./first_bot.sh --name shelly
#     quintain match ./first_bot.sh brain:random --game connect-4 --games 10
#     quintain check ./first_bot.sh --game connect-4

while read -r turn; do
    state=${turn#*'"state":['}
    cells=$(printf '%s' "${state%%]*}" | tr ',' ' ')
    column=0
    # shellcheck disable=SC2086 # the numbers are meant to be split: six a column, the top one last
    set -- $cells
    while [ "$6" != 0 ]; do
        shift 6
        column=$((column + 1))
    done
    echo "$column"
done
