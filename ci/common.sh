# SPDX-License-Identifier: MIT
# What the scripts in ci/ share; they source it. Leaves the working directory at the project's root.
# shellcheck shell=bash
set -euo pipefail
shopt -s nullglob
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export LC_ALL=C

# A run must not depend on what the caller's shell happens to contain.
clean_environment() {
    local name
    for name in $(compgen -e); do
        case $name in
        GSTRIDE_* | POCL_* | OCL_* | OCLGRIND_* | RUSTICL_* | OPENCL_*) unset "$name" ;;
        esac
    done
}

# PoCL renamed its CPU device in version 4.
pocl_cpu_device() {
    case $(dpkg-query -W -f='${Version}' pocl-opencl-icd 2>/dev/null) in
    [0-3].*) echo pthread ;;
    *) echo cpu ;;
    esac
}

# All files of ours with one of the given endings, build directories left out.
files_named() {
    local ending arguments=()
    for ending; do
        arguments+=(-o -name "*$ending")
    done
    find . -path './.*' -prune -o -path './build*' -prune -o -path ./shared -prune -o \
        -type f \( "${arguments[@]:1}" \) -print | sort
}
