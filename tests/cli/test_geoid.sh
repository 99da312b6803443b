#!/bin/sh
# SPDX-License-Identifier: MIT
# test_geoid.sh - the geoid example on the real grid, on small grids, and on files that are none.
# usage: test_geoid.sh GEOID    exit status 77: all that ran passed, but the real grid was left out
set -u
geoid=${1:?usage: test_geoid.sh GEOID}
real=/usr/share/proj/egm96_15.gtx
skip_status=77
passed=0 failed=0 skipped=0
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

pass() { passed=$((passed + 1)); }
fail() {
    failed=$((failed + 1))
    printf 'FAIL: %s\n' "$1"
    sed 's/^/    /' "$dir/out" "$dir/err"
}

# run ARGUMENT...: leaves $status, $dir/out and $dir/err.
run() {
    rm -f "$dir/map.png"
    "$geoid" --output "$dir/map.png" "$@" >"$dir/out" 2>"$dir/err"
    status=$?
}

# prints TEXT: one line of the output is exactly TEXT, blanks counted once.
prints() {
    if tr -s ' ' <"$dir/out" | grep -Fxq -- "$1"; then pass; else fail "no line \"$1\""; fi
}

# succeeds WHAT: exit status 0, and the map begins as a PNG file does.
succeeds() {
    if [ $status -eq 0 ]; then pass; else fail "$1: exit status $status"; fi
    signature=$(od -An -tx1 -N8 "$dir/map.png" 2>/dev/null | tr -d ' ')
    if [ "$signature" = 89504e470d0a1a0a ]; then pass; else fail "$1: the map is no PNG file"; fi
}

# refuses TEXT FILE: exit status 1, one line on stderr that has FILE and TEXT, no map.
refuses() {
    run "$2"
    if [ $status -eq 1 ]; then pass; else fail "$2: exit status $status"; fi
    if [ "$(wc -l <"$dir/err")" -eq 1 ] && grep -F -- "$2" "$dir/err" | grep -Fq -- "$1"; then
        pass
    else
        fail "$2: no message \"$1\""
    fi
    if [ ! -e "$dir/map.png" ]; then pass; else fail "$2: a map was written"; fi
}

# header SOUTH WEST LAT_STEP LON_STEP ROWS COLUMNS: numbers as octal escapes.
header() { printf "$1$2$3$4$5$6"; }
zero='\000\000\000\000\000\000\000\000'
one='\077\360\000\000\000\000\000\000'
sixty='\100\116\000\000\000\000\000\000'
infinite='\177\360\000\000\000\000\000\000'
minus_one='\277\360\000\000\000\000\000\000'
two_rows='\000\000\000\002'
three_columns='\000\000\000\003'
no_rows='\000\000\000\000'
many_rows='\177\377\377\377'
no_data='\302\261\307\021'
nan='\177\300\000\000'
good_header() { header "$zero" "$zero" "$sixty" "$one" "$two_rows" "$three_columns"; }
values() { printf "$1$2$3$4$5$6"; }
f1='\077\200\000\000' f2='\100\000\000\000' f4='\100\200\000\000'
f6='\100\300\000\000' f8='\101\000\000\000'

# Two rows, at 0 and 60 degrees, whose weights are 1 and 1/2: (1 + 2 + (4 + 6 + 8) / 2) / 3.5.
{ good_header; values "$f1" "$f2" "$no_data" "$f4" "$f6" "$f8"; } >"$dir/small.gtx"
run "$dir/small.gtx"
succeeds "a small grid"
why_not_real=
[ -r "$real" ] || why_not_real="$real is not here"
if grep -iq '^device .*simulator' "$dir/out"; then
    why_not_real="the real grid takes a simulator minutes"
fi
prints "grid 3 columns x 2 rows = 6 points"
prints "without a value 1 points, left out"
prints "minimum 1.0000 m at 0 N 0 E"
prints "maximum 8.0000 m at 60 N 2 E"
prints "plain mean 4.2000 m"
prints "area-weighted mean 3.4286 m"
prints "rms 4.9193 m"

# What is not a number is no value either.
{ good_header; values "$f8" "$nan" "$no_data" "$f6" "$f4" "$f4"; } >"$dir/nan.gtx"
run "$dir/nan.gtx"
succeeds "a grid with NaN"
prints "without a value 2 points, left out"
prints "minimum 4.0000 m at 60 N 1 E"
prints "maximum 8.0000 m at 0 N 0 E"
prints "plain mean 5.5000 m"

# The default grid is looked for in PROJ_DATA, a list of directories.
mkdir "$dir/data"
cp "$dir/small.gtx" "$dir/data/egm96_15.gtx"
PROJ_DATA="$dir/nowhere:$dir/data" "$geoid" -o "$dir/map.png" >"$dir/out" 2>"$dir/err"
status=$?
succeeds "PROJ_DATA"
prints "plain mean 4.2000 m"

# Files that are no grid, or only part of one.
printf '' >"$dir/empty.gtx"
head -c 39 "$dir/small.gtx" >"$dir/stub.gtx"
head -c 63 "$dir/small.gtx" >"$dir/cut.gtx"
{ cat "$dir/small.gtx"; printf x; } >"$dir/long.gtx"
{ header "$zero" "$zero" "$infinite" "$one" "$two_rows" "$three_columns"; } >"$dir/infinite.gtx"
{ header "$zero" "$zero" "$minus_one" "$one" "$two_rows" "$three_columns"; } >"$dir/backward.gtx"
{ header "$sixty" "$zero" "$sixty" "$one" "$two_rows" "$three_columns"; } >"$dir/north.gtx"
{ header "$zero" "$zero" "$one" "$one" "$no_rows" "$three_columns"; } >"$dir/rowless.gtx"
{ header "$zero" "$zero" "$one" "$one" "$many_rows" "$three_columns"; } >"$dir/huge.gtx"
{ header "$zero" "$zero" "$zero" "$one" "$two_rows" "$three_columns"; } >"$dir/flat.gtx"
{ good_header; values "$nan" "$nan" "$nan" "$no_data" "$no_data" "$no_data"; } >"$dir/void.gtx"
dd if=/dev/zero of="$dir/zeros.gtx" bs=64 count=1 2>/dev/null
refuses "cannot open: No such file or directory" "$dir/missing.gtx"
refuses "cannot read: Is a directory" "$dir"
refuses "not a GTX grid: 0 bytes are too few" "$dir/empty.gtx"
refuses "not a GTX grid: 39 bytes are too few" "$dir/stub.gtx"
refuses "truncated: 2 rows of 3 columns need 64 bytes, 63 are there" "$dir/cut.gtx"
refuses "not a GTX grid: bytes follow" "$dir/long.gtx"
refuses "numbers that are not finite" "$dir/infinite.gtx"
refuses "steps that are not positive" "$dir/backward.gtx"
refuses "steps that are not positive" "$dir/flat.gtx"
refuses "steps that are not positive" "$dir/zeros.gtx"
refuses "latitudes leave the range" "$dir/north.gtx"
refuses "impossible numbers of rows" "$dir/rowless.gtx"
refuses "impossible numbers of rows" "$dir/huge.gtx"
refuses "not a GTX grid" "$geoid"

run "$dir/void.gtx"
if [ $status -eq 1 ] && grep -Fq "no point of the grid has a value" "$dir/err"; then
    pass
else
    fail "a grid of nothing: exit status $status"
fi

# The command line.
run --help
if [ $status -eq 0 ] && grep -Fq "usage: geoid" "$dir/out"; then pass; else fail "--help"; fi
run --nonsense
if [ $status -eq 2 ] && grep -Fq "usage: geoid" "$dir/err"; then pass; else fail "--nonsense"; fi
run "$dir/small.gtx" "$dir/small.gtx"
if [ $status -eq 2 ] && grep -Fq "usage: geoid" "$dir/err"; then pass; else fail "two grids"; fi
run --device "no such device" "$dir/small.gtx"
if [ $status -eq 1 ] && grep -Fq "no such device" "$dir/err"; then pass; else fail "--device"; fi
GSTRIDE_LAUNCH=nonsense "$geoid" -o "$dir/map.png" "$dir/small.gtx" >"$dir/out" 2>"$dir/err"
status=$?
if [ $status -eq 1 ] && grep -Fq "nonsense" "$dir/err"; then pass; else fail "GSTRIDE_LAUNCH"; fi
"$geoid" --output "$dir/nowhere/map.png" "$dir/small.gtx" >"$dir/out" 2>"$dir/err"
status=$?
if [ $status -eq 1 ] && grep -Fq "$dir/nowhere/map.png: cannot write" "$dir/err"; then
    pass
else
    fail "an output that cannot be written: exit status $status"
fi

if [ -z "$why_not_real" ]; then
    run "$real"
    succeeds "EGM96"
    prints "grid 1440 columns x 721 rows = 1038240 points"
    prints "minimum -106.9911 m at 4.75 N 78.75 E"
    prints "maximum 85.3909 m at 8.25 S 147.25 E"
    prints "plain mean -1.4441 m"
    prints "area-weighted mean -0.5801 m"
    prints "rms 29.2575 m"

    # Another launch shape gives the same heights, relief and places, so the same picture.
    cp "$dir/map.png" "$dir/first.png" 2>/dev/null
    GSTRIDE_LAUNCH=groups=101 # so many that a device that cuts loops off takes them
    export GSTRIDE_LAUNCH
    run "$real"
    unset GSTRIDE_LAUNCH
    succeeds "EGM96 on 101 work-groups"
    if cmp -s "$dir/map.png" "$dir/first.png"; then pass; else fail "the maps differ"; fi

    head -c 4152999 "$real" >"$dir/most.gtx"
    refuses "truncated: 721 rows of 1440 columns need 4153000 bytes, 4152999 are there" \
        "$dir/most.gtx"
else
    skipped=1
    echo "skipped: $why_not_real"
fi

printf '%d passed, %d failed, %d skipped\n' $passed $failed $skipped
[ $failed -eq 0 ] || exit 1
[ $skipped -eq 0 ] || exit $skip_status
