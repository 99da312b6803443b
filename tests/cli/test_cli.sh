#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Checks the gstride program: exit statuses and outputs of all commands, also for bad input.
#
#   usage: test_cli.sh PATH-OF-GSTRIDE
#
# The device is the one of GSTRIDE_DEVICE, else the default. The checks of failures that a healthy
# machine does not show need a C compiler ($CC or cc), those of JSON need python3; without these
# they are skipped, which is said.
set -u

if [ $# -ne 1 ] || [ ! -x "$1" ]; then
    echo "usage: $0 PATH-OF-GSTRIDE" >&2
    exit 2
fi
gstride=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM

# The user's own settings must not change what is checked, nor his cache be cleared.
unset GSTRIDE_LAUNCH GSTRIDE_LOG GSTRIDE_CACHE GSTRIDE_CACHE_LIMIT
GSTRIDE_CACHE_DIR=$work/cache
export GSTRIDE_CACHE_DIR
chosen=${GSTRIDE_DEVICE-}
unset GSTRIDE_DEVICE

checks=0
failures=0
skipped=0
command=
status=

verdict() { # RIGHT? WHAT
    checks=$((checks + 1))
    [ "$1" -eq 0 ] && return
    failures=$((failures + 1))
    printf 'FAILED: %s\n  command: %s (exit status %s)\n' "$2" "$command" "$status"
    sed 's/^/  stdout: /' "$work/out" | head -n 20
    sed 's/^/  stderr: /' "$work/err" | head -n 20
}

# Run the program with arguments, then check the exit status.
run() { # STATUS ARGUMENTS...
    wanted=$1
    shift
    command="gstride $*"
    "$gstride" "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    [ "$status" -eq "$wanted" ]
    verdict $? "the exit status is $wanted"
}

# Check the output of the last run by an extended regular expression.
out() {
    grep -Eq -e "$1" "$work/out"
    verdict $? "stdout has a line like: $1"
}
err() {
    grep -Eq -e "$1" "$work/err"
    verdict $? "stderr has a line like: $1"
}
quiet_out() {
    [ ! -s "$work/out" ]
    verdict $? "stdout is empty"
}
quiet_err() {
    [ ! -s "$work/err" ]
    verdict $? "stderr is empty"
}
# Drivers may print what they like, but the program says nothing, and no progress without a terminal.
no_message() {
    ! grep -Eq "^gstride|^  hint:|opening|probing|running|[0-9] lines|$(printf '\033')" "$work/err"
    verdict $? "the program prints no message and no progress"
}
fits() {
    [ "$(awk 'length > 100' "$work/out" | wc -l)" -eq 0 ]
    verdict $? "no line is longer than 100 columns"
}

# The last run's output is JSON for which a Python expression over `d` holds.
json() {
    if ! command -v python3 >/dev/null 2>&1; then
        skipped=$((skipped + 1))
        return
    fi
    python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
sys.exit(0 if eval(sys.argv[2]) else 1)' "$work/out" "$1" 2>>"$work/err"
    verdict $? "JSON: $1"
}

usage_error() { # MESSAGE ARGUMENTS...
    message=$1
    shift
    run 2 "$@"
    err "$message"
    err "^Try 'gstride help"
    quiet_out
}

check_program() {
    run 0 --version
    out '^gstride [0-9]+\.[0-9]+\.[0-9]+$'
    quiet_err
    run 0 help
    cp "$work/out" "$work/overview"
    fits
    run 0 --help
    cmp -s "$work/out" "$work/overview"
    verdict $? "--help prints what help prints"
    for name in devices plan digest selftest cache; do
        grep -q "^  $name " "$work/overview"
        verdict $? "the overview lists $name"
        run 0 help "$name"
        cp "$work/out" "$work/help"
        out "^usage: gstride $name"
        out '^Example'
        out '^Exit status'
        fits
        quiet_err
        run 0 "$name" --help
        cmp -s "$work/out" "$work/help"
        verdict $? "$name --help prints what help $name prints"
        usage_error 'cannot use the option "--nonsense"' "$name" --nonsense
        usage_error 'cannot use the option "-x"' "$name" -x
    done
    run 2
    err '^usage: gstride COMMAND'
    quiet_out
    usage_error 'no command is called "nonsense"' nonsense
    usage_error 'no command is called ""' ''
    usage_error 'no option is called "--nonsense"' --nonsense
    usage_error 'no command is called "nonsense"' help nonsense
    usage_error 'not "cache" too' help plan cache
    if [ -w /dev/full ]; then
        "$gstride" help >/dev/full 2>"$work/err"
        status=$?
        command="gstride help >/dev/full"
        [ "$status" -eq 1 ]
        verdict $? "an output that cannot be written is a failure"
        err 'cannot write the output'
    fi
}

check_devices() {
    run 0 devices --device "$chosen"
    out '^  #   type  name +platform +CUs group +local +global fp64 at64$'
    out '^\* #[0-9]+ +(gpu|cpu|accel|mixed) '
    out '^\* chosen: #[0-9]+, '
    out '^probes:$'
    out '^  #[0-9]+ +passed  atomics count'
    fits
    no_message
    [ "$(grep -c '^\* #' "$work/out")" -eq 1 ]
    verdict $? "one device is marked"
    index=$(sed -n 's/^\* #\([0-9]*\) .*/\1/p' "$work/out")

    run 0 devices --device "#$index" --json
    no_message
    json "d['chosen'] == {'from': '--device', 'spec': '#$index', 'index': $index}"
    json "[x['index'] for x in d['devices']] == list(range(len(d['devices'])))"
    json "d['devices'][$index]['probe']['passed'] is True"
    json "isinstance(d['devices'][$index]['probe']['loop_bound'], int)"
    json "d['devices'][$index]['compute_units'] > 0 and d['devices'][$index]['global_memory'] > 0"
    json "set(d['devices'][$index]['type']) <= {'cpu', 'gpu', 'accelerator'}"
    json "isinstance(d['problems'], list) and d['version'].count('.') == 2"

    run 0 devices --no-probe
    out '^\* chosen: #[0-9]+, by default'
    ! grep -q '^probes:' "$work/out"
    verdict $? "--no-probe prints no probes"
    run 0 devices --no-probe --json
    json "all(x['probe'] is None for x in d['devices']) and d['chosen']['from'] == 'default'"

    GSTRIDE_DEVICE="#$index" run 0 devices --no-probe
    out "^\\* chosen: #$index, since GSTRIDE_DEVICE is \"#$index\"$"
    GSTRIDE_DEVICE=no-such-device run 0 devices --device "#$index"
    out "since --device is \"#$index\""
    GSTRIDE_DEVICE=no-such-device run 0 devices --device ''
    out '^\* chosen: #[0-9]+, by default'
    GSTRIDE_DEVICE=no-such-device run 1 devices
    out '^\* chosen: none, since GSTRIDE_DEVICE is "no-such-device"$'
    err 'no device matches "no-such-device"'
    err '^  hint: '

    run 1 devices --device no-such-device
    out '^  #[0-9]+ '
    err 'GSTRIDE_ERROR_NO_DEVICE'
    run 1 devices --device no-such-device --json
    json "d['chosen']['error']['status'] == 'GSTRIDE_ERROR_NO_DEVICE' and d['devices']"
    run 1 devices --device 'cpu:'
    err 'GSTRIDE_ERROR_DEVICE_SPEC'
    err "hint: 'gstride help devices'"
    run 1 devices --device '#x' --no-probe
    err 'GSTRIDE_ERROR_DEVICE_SPEC'
    run 0 devices --no-probe --device "no-such-device,#$index"
    out "^\\* chosen: #$index, "

    case ${LD_PRELOAD-} in
    *oclgrind*)
        skipped=$((skipped + 1))
        echo "skipped: no platform, since Oclgrind cannot be hidden"
        ;;
    *)
        if OCL_ICD_VENDORS=$work/none "$gstride" devices --no-probe >/dev/null 2>&1; then
            skipped=$((skipped + 1))
            echo "skipped: no platform, since this loader does not read OCL_ICD_VENDORS"
        else
            OCL_ICD_VENDORS=$work/none run 1 devices
            err 'GSTRIDE_ERROR_NO_PLATFORM'
            quiet_out
            OCL_ICD_VENDORS=$work/none run 1 devices --json
            json "d['devices'] == [] and d['chosen']['error']['status'] == 'GSTRIDE_ERROR_NO_PLATFORM'"
        fi
        ;;
    esac
    usage_error '"--device" needs a value' devices --device
    usage_error 'one argument too many' devices nonsense
    usage_error 'cannot use the option "--json=1"' devices --json=1
    usage_error 'cannot use the option "--quick"' devices --quick
}

planned_n() { # TEXT NUMBER
    run 0 plan map --n "$1" --synthetic 'cu=4' --json
    grep -Eq "\"n\":[[:space:]]*$2,\$" "$work/out"
    verdict $? "--n $1 is $2 elements"
}

check_plan() {
    gpu='type=gpu cu=132 wg=1024'
    run 0 plan reduce --n 2^30 --synthetic "$gpu"
    out '^reduce of 1073741824 elements of f32 \(4 bytes each\)$'
    out '^on a synthetic device, 132 compute units$'
    for row in groups 'group size' tile tiles launches reason; do
        out "^  $row  +[0-9a-zA-Z]"
    done
    ! grep -q '^  forced' "$work/out"
    verdict $? "nothing is forced"
    fits
    quiet_err
    run 0 plan map --n 1M --type f64 --device "$chosen"
    out '^map of 1048576 elements of f64 \(8 bytes each\)$'
    out '^on #[0-9]+ .*[0-9]+ compute units$'
    fits

    run 0 plan map --n 1M --synthetic "$gpu" --json
    json "d['primitive'] == 'map' and d['n'] == 2**20 and d['type'] == 'f32'"
    json "d['device']['synthetic'] and d['device']['compute_units'] == 132 and d['reason']"
    json "-(-d['n'] // d['shape']['tile']) == d['shape']['tiles'] and d['shape']['launches'] == 1"
    json "'forced' not in d"
    run 0 plan reduce --n 1G --synthetic 'type=gpu cu=1 loop=4096' --launch groups=64 --json
    json "d['shape']['launches'] > 1"
    run 0 plan kernel --n 100K --synthetic "$gpu" --launch groups=7,local=64 --json
    json "d['shape']['groups'] == 7 and d['shape']['group_size'] == 64"
    json "d['forced'] == {'from': '--launch', 'launch': 'groups=7,local=64'}"
    run 0 plan map --n 100K --synthetic "$gpu" --launch groups=max --json
    json "d['shape']['groups'] == d['shape']['tiles']"
    json "d['forced']['launch'] == 'groups=max'"
    GSTRIDE_LAUNCH=local=32 run 0 plan map --n 100K --synthetic "$gpu"
    out '^  group size  32 '
    out '^  forced +local=32 by GSTRIDE_LAUNCH$'
    GSTRIDE_LAUNCH=local=32 run 0 plan map --n 100K --synthetic "$gpu" --launch local=64
    out '^  group size  64 '
    out '^  forced +local=64 by --launch$'
    GSTRIDE_LAUNCH=nonsense run 1 plan map --n 100K --synthetic "$gpu"
    err 'GSTRIDE_ERROR_LAUNCH_SPEC'
    run 1 plan map --n 1K --synthetic "$gpu" --launch local=2048
    err 'local=2048 is more than the 1024 work-items'
    err '^  hint: '
    quiet_out

    planned_n 0 0
    planned_n 1000 1000
    planned_n 64K 65536
    planned_n 3M 3145728
    planned_n 2G 2147483648
    planned_n 2^0 1
    planned_n 2^40 1099511627776
    planned_n 9007199254740993 9007199254740993
    for bad in '' K -1 +1 1k 1T 1.5M 1MM ' 1' '1 ' 0x10 2^ 2^64 2^-1 2^3K 99999999999999999999 \
        17179869184G; do
        usage_error 'is no number of elements' plan map --n "$bad" --synthetic "$gpu"
    done
    usage_error 'PRIMITIVE is missing' plan --n 5
    usage_error 'no primitive is called "nonsense"' plan nonsense --n 5
    usage_error 'one argument too many' plan map reduce --n 5
    usage_error '--n is missing' plan map
    usage_error '"--n" needs a value' plan map --n
    usage_error '--type: .*"q8"' plan map --n 5 --type q8
    usage_error '--launch: .*malformed' plan map --n 5 --launch groups=0
    usage_error '--synthetic: .*"nonsense=1"' plan map --n 5 --synthetic 'cu=2 nonsense=1'
    usage_error 'exclude each other' plan map --n 5 --synthetic cu=2 --device cpu
    run 1 plan map --n 5 --device no-such-device
    err 'GSTRIDE_ERROR_NO_DEVICE'
    quiet_out
}

check_digest() {
    run 0 digest --device "$chosen"
    no_message
    cp "$work/out" "$work/quick"
    ! grep -Evq '^(#.*|[a-z-]+ [a-z0-9]+ [a-z0-9-]+ [0-9]+ [0-9a-f]{16})$' "$work/out"
    verdict $? "every line is a digest line"
    [ "$(grep -vc '^#' "$work/out")" -ge 10 ]
    verdict $? "there are lines"
    [ "$(cut -d ' ' -f 5 "$work/out" | sort -u | wc -l)" -ge 10 ]
    verdict $? "the hashes differ among each other"
    GSTRIDE_LAUNCH=groups=3 run 0 digest --quick --device "$chosen"
    cmp -s "$work/out" "$work/quick"
    verdict $? "--quick is the default, and the launch shape changes no line"
    usage_error 'exclude each other' digest --quick --full
    usage_error 'one argument too many' digest quick
    usage_error 'cannot use the option "--json"' digest --json
    run 1 digest --device no-such-device
    err 'GSTRIDE_ERROR_NO_DEVICE'
    quiet_out
}

check_selftest() {
    run 0 selftest --quick --device "$chosen"
    out '^device: #[0-9]+ '
    out '^self-test \(quick\): passed, [1-9][0-9]* cases are right$'
    no_message
    usage_error 'exclude each other' selftest --full --quick
    usage_error 'one argument too many' selftest full
    run 1 selftest --device no-such-device
    err 'GSTRIDE_ERROR_NO_DEVICE'
}

check_cache() {
    rm -rf "$GSTRIDE_CACHE_DIR"
    run 0 cache show
    out '^directory  none: '
    run 0 cache clear
    out '^nothing to remove: '
    GSTRIDE_CACHE=on run 0 plan map --n 5 --device "$chosen"
    run 0 cache show
    out "^directory  $GSTRIDE_CACHE_DIR\$"
    out '^entries    [1-9]'
    out '^size       [1-9]'
    fits
    entries=$(sed -n 's/^entries *//p' "$work/out")
    GSTRIDE_CACHE_LIMIT=3 run 0 cache show --json
    json "d['entries'] == $entries and d['bytes'] > 0 and d['limit_bytes'] == 3 * 2**20"
    json "d['directory'] == '$GSTRIDE_CACHE_DIR'"
    GSTRIDE_CACHE=off run 0 cache clear
    out '^nothing to remove: GSTRIDE_CACHE=off$'
    run 0 cache clear
    out "^removed $entries entries from $GSTRIDE_CACHE_DIR\$"
    run 0 cache show --json
    json "d['entries'] == 0 and d['bytes'] == 0"
    GSTRIDE_CACHE=off run 0 cache show --json
    json "d['directory'] == '' and d['why_off'] == 'GSTRIDE_CACHE=off'"
    usage_error 'show or clear is missing' cache
    usage_error 'neither show nor clear' cache nonsense
    usage_error 'one argument too many' cache show clear
    usage_error 'prints no JSON' cache clear --json
}

planted() { # FAULT STATUS ARGUMENTS...
    fault=$1
    shift
    CLI_FAULT=$fault LD_PRELOAD=$work/faults.so${LD_PRELOAD:+:$LD_PRELOAD} \
        ASAN_OPTIONS=verify_asan_link_order=0 run "$@"
    command="CLI_FAULT=$fault $command"
}

check_planted_faults() {
    if ! ${CC:-cc} -shared -fPIC -I "$here/../../include" -o "$work/faults.so" "$here/faults.c" \
        2>/dev/null; then
        skipped=$((skipped + 1))
        echo "skipped: planted faults, for want of a C compiler"
        return
    fi
    planted probe 1 devices
    out '^  #0   FAILED  planted: atomics lose counts$'
    out '^\* chosen: none, '
    err 'GSTRIDE_ERROR_PROBE'
    err '^  hint: update the driver'
    planted probe 1 devices --json
    json "d['devices'][0]['probe'] == {'passed': False, 'status': 'GSTRIDE_ERROR_PROBE',
                                       'message': 'planted: atomics lose counts'}"
    planted opencl 1 plan map --n 5
    err '^gstride plan: planted: clCreateContext failed$'
    err '^  OpenCL: CL_OUT_OF_RESOURCES \(-5\), the device ran out of registers'
    planted build 1 digest
    err 'line 7: planted log'
    planted none 0 digest
    out '^planted quick line$'
    planted none 0 digest --full
    out '^planted full line$'
    planted wrong-bits 1 digest
    err 'GSTRIDE_ERROR_DEVICE_LOST'
    planted none 0 selftest
    out '^self-test \(quick\): passed, 11 cases are right$'
    planted none 0 selftest --full
    out '^self-test \(full\): passed, 22 cases are right$'
    planted wrong-bits 1 selftest
    out '^self-test \(quick\): FAILED$'
    err 'wrong bits in reduce f32 sum 129'
    planted no-cases 1 selftest
    out 'FAILED$'
    err 'no case was compared'
}

check_program
check_devices
check_plan
check_digest
check_selftest
check_cache
check_planted_faults

echo "$checks checks, $failures failed, $skipped skipped"
[ "$failures" -eq 0 ]
