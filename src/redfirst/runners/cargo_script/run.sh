# SPDX-License-Identifier: Apache-2.0
# Builds the test binaries of a package, then lists and runs them with libtest's JSON on the report pipe.
#
# Arguments: mode (run | list), libtest's own arguments as one word list, then those of `cargo test`.
# Standard input: one line, the key that begins each line of ours in the report, so that what a test
# prints cannot pass for one of them. A test binary's standard output is the report pipe itself: its
# lines arrive even if it is killed. Cargo only builds; its runner setting writes down each binary
# with the environment and folder that Cargo gives it, and this script then starts them.
set -u
IFS= read -r key
mode=$1
arguments=$2
shift 2
report=$REDFIRST_REPORT_FD
unset REDFIRST_REPORT_FD
case $report in
3) ;;
[0-9]) eval "exec 3>&$report $report>&-" ;;
*) exec 3>>"/proc/self/fd/$report" ;;
esac
exec </dev/null

say() {
    printf '\n%s %s\n' "$key" "$*" >&3
}

work=$(mktemp -d) || exit 125
export CARGO_TARGET_DIR="$work/target"
host=$(rustc -vV 3>&- | sed -n 's/^host: //p')
note='export -p >"$0/$$.env"; pwd >"$0/$$.cwd"; printf "%s %s\n" "$$" "$1" >>"$0/list"'
quoted=$(printf '%s' "$note" | sed 's/\\/\\\\/g; s/"/\\"/g')
: >"$work/list"

# A lock file of the checkout is used as it is: rewriting it would look like a test that changed a file.
locked=
root=$(cargo locate-project --workspace --message-format plain 2>/dev/null 3>&-)
[ -z "$root" ] || [ ! -f "${root%/*}/Cargo.lock" ] || locked=--locked

say build
# shellcheck disable=SC2086
cargo test "$@" $locked --message-format=json \
    --config "target.$host.runner=[\"/bin/sh\", \"-c\", \"$quoted\", \"$work\"]" >&3 3>&-
status=$?
say built "$status"
if [ "$status" -ne 0 ]; then
    say targets
    cargo metadata --no-deps --offline --format-version 1 >&3 3>&-
    say end "$status"
    exit "$status"
fi

# One binary, in the environment that Cargo noted for it; the rest of the arguments are libtest's.
start() {
    (
        . "$work/$id.env"
        cd "$(cat "$work/$id.cwd")" || exit 125
        RUSTC_BOOTSTRAP=1 exec "$binary" -Z unstable-options --format json "$@"
    ) >&3 3>&- </dev/null
}

# Whether this libtest can keep the second record.
can_log() {
    ( . "$work/$id.env"; exec "$binary" --help ) 2>/dev/null 3>&- </dev/null | grep -q -e --logfile
}

result=0
while read -r id binary; do
    say list "$binary"
    start --list
    say listed "$?"
    [ "$mode" = run ] || continue
    log=$work/$id.log
    logs=
    can_log && logs="--logfile $log"
    say run "$binary"
    # shellcheck disable=SC2086
    start $logs $arguments
    status=$?
    say ran "$status"
    if [ -n "$logs" ]; then
        say log
        [ ! -f "$log" ] || cat "$log" >&3
        say logged
    fi
    [ "$status" -eq 0 ] || result=$status
done <"$work/list"
say end "$result"
exit "$result"
