#!/bin/sh
# Compile the core with each C++ compiler of the machine, warnings being errors, and compare what the builds compute.
# usage: PYTHON=... sh tests/compilers.sh BUILD
set -eu
build=$1
core=src/infimum/core
# One template serves masks of lanes and plain bools, so & of bools is meant.
quiet="-Wno-unknown-warning-option -Wno-bitwise-instead-of-logical"
strict="-std=c++17 -O2 -ffp-contract=off -Wall -Wextra -Werror $quiet"
libraries=""

headers_alone() {
    case $(uname -m) in
    x86_64 | amd64) sets="scalar:-mfma:-mavx2 INFIMUM_AVX2:-mfma:-mavx2 INFIMUM_AVX512:-mfma:-mavx512f:-mavx512dq" ;;
    *) sets="scalar" ;;
    esac
    for set in $sets; do
        lane=${set%%:*}
        flags=$(echo "${set#"$lane"}" | tr ':' ' ')
        [ "$lane" = scalar ] || flags="$flags -D$lane=1"
        # shellcheck disable=SC2086
        echo '#include "core.h"' | $1 $strict $flags -I "$core" -x c++ -fsyntax-only -
    done
}

for compiler in g++ clang++; do
    if ! command -v $compiler >/dev/null 2>&1; then
        echo "$compiler is not installed: nothing is claimed about it."
        continue
    fi
    echo "$compiler: $($compiler --version | head -n 1)"
    headers_alone $compiler
    folder=$build/compilers/$compiler
    cmake -S . -B "$folder" -G Ninja -DCMAKE_CXX_COMPILER=$compiler -DCMAKE_CXX_FLAGS="-Werror $quiet" >"$build/$compiler.log" 2>&1 &&
        cmake --build "$folder" --target infimum_core >>"$build/$compiler.log" 2>&1 ||
        { cat "$build/$compiler.log" >&2; exit 1; }
    libraries="$libraries $folder/libinfimum_core.so"
done
# shellcheck disable=SC2086
exec "$PYTHON" tests/compilers.py $libraries
