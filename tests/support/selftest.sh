#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks the servers and toolkits that the tests stand on.
#
#   selftest.sh                    a few seconds; needs python3, curl, tar, xz and a C compiler
#   selftest.sh --real [RELEASE]   also packs the CUDA toolkit of this machine and the wheels of a release
#                                  (default 13.1.1), merges each into one prefix and compiles with its nvcc
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/cudaenv-selftest-XXXXXX")
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0

check() {  # check NAME COMMAND...
    local name=$1
    shift
    if "$@" >"$work/output" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED: %s\n' "$name"
        sed 's/^/    /' "$work/output"
    fi
}

equal() { [[ $1 == "$2" ]] || { printf 'got      %s\nexpected %s\n' "$1" "$2"; return 1; }; }

# gone PID: the process ends within five seconds (one that nobody has waited for yet counts as ended).
gone() {
    local try
    for try in $(seq 50); do
        grep -qs '^State:[[:space:]]*[^Z[:space:]]' "/proc/$1/status" || return 0
        sleep 0.1
    done
    return "$((try > 0))"
}

# merge MIRROR RELEASE PREFIX: every archive of this platform into one prefix, digests checked.
merge() {
    mkdir -p "$3"
    python3 - "$1" "$2" "$work/list" <<'PY' || return
import hashlib, json, pathlib, platform, sys
base, release, output = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
wanted = "linux-sbsa" if platform.machine() == "aarch64" else "linux-x86_64"
manifest = json.loads((base / f"redistrib_{release}.json").read_text())
paths = []
for name, component in manifest.items():
    entry = component.get(wanted) if isinstance(component, dict) else None
    for one in [entry] if entry and "relative_path" in entry else (entry or {}).values():
        data = (base / one["relative_path"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == one["sha256"] and str(len(data)) == one["size"], name
        paths.append(str(base / one["relative_path"]))
pathlib.Path(output).write_text("\n".join(paths) + "\n")
PY
    local archive
    while read -r archive; do
        tar -xf "$archive" -C "$3" --strip-components=1 || return
    done <"$work/list"
    ln -sfn lib "$3/lib64"
}

check_samples() {
    local mirror=$work/mirror prefix release compile
    python3 "$here/make_mirror.py" "$mirror" --samples 11.8.0 12.4.1 12.8.1 13.0.2 13.3.1 >/dev/null
    cat >"$work/v.c" <<'C'
#include <stdio.h>
#include <cuda_runtime.h>
int main(void) {
    int version;
    cudaRuntimeGetVersion(&version);
    printf("%d", version == CUDART_VERSION);
    return 0;
}
C
    for release in 11.8.0 12.4.1 12.8.1 13.0.2 13.3.1; do
        prefix=$work/$release
        check "merge $release" merge "$mirror" "$release" "$prefix"
        check "nvcc of $release" grep -q "release ${release%.*}, V${release%.*}" <("$prefix/bin/nvcc" --version)
        check "settings of $release" grep -q "TOP=$prefix/bin/\.\." <("$prefix/bin/nvcc" -v 2>&1)
        compile=(cc -o "$work/v" "$work/v.c" -I"$prefix/include" -L"$prefix/lib")
        check "link $release" "${compile[@]}" -lcudart
        check "run $release" equal "$(LD_LIBRARY_PATH=$prefix/lib "$work/v")" 1
        check "link $release statically" "${compile[@]}" -lcudart_static
        check "run $release statically" equal "$("$work/v")" 1
    done
    local nvcc=$work/13.0.2/bin/nvcc
    check "arguments" equal "$("$nvcc" --echo-args 'a b' '' | tail -n 2 | tr '\n' ' ')" "[a b] [] "
    check "exit status" equal "$("$nvcc" --exit 42 || echo $?)" 42
    check "standard input" equal "$(printf 'in\n' | "$nvcc" --cat)" in
    check "link to nvcc alone" bash -c "ln -s '$nvcc' '$work/nvcc'; ! '$work/nvcc' -v"
    check "nested component" grep -q '"cuda13.3": {' "$mirror/redistrib_13.3.1.json"
    check "version node" grep -q 'libcudart\.so\.11\.0' <(readelf -V "$work/11.8.0/lib/libcudart.so.11.0")
    cp -r "$mirror" "$work/first"
    python3 "$here/make_mirror.py" "$mirror" --samples 12.4.1 >/dev/null
    check "the same again, byte by byte" diff -r -x LICENSE.txt "$work/first" "$mirror"
}

check_server() {
    local mirror=$work/mirror server url file size
    file=cuda_nvcc/linux-x86_64/$(basename "$mirror"/cuda_nvcc/linux-x86_64/*-12.4.*)
    size=$(stat -c %s "$mirror/$file")
    python3 "$here/http_server.py" "$mirror" --port-file "$work/port" --log "$work/log" --fault 'gone*=404' &
    server=$!
    for _ in $(seq 100); do [[ -f $work/port ]] && break; sleep 0.05; done
    url=http://127.0.0.1:$(cat "$work/port")
    fetch() { curl --silent --noproxy '*' --max-time 5 "$@"; }
    status() { fetch -o /dev/null -w '%{http_code}' "$@"; }
    check "whole file" cmp <(fetch "$url/$file") "$mirror/$file"
    check "range" cmp <(fetch -r 100-199 "$url/$file") <(tail -c +101 "$mirror/$file" | head -c 100)
    check "range from the end" equal "$(fetch -r -7 "$url/$file" | wc -c)" 7
    check "range past the end" equal "$(status -r "$size-" "$url/$file")" 416
    check "list" grep -q "<a href='redistrib_12.4.1.json'>" <(fetch "$url/")
    check "list of a directory" grep -q 'archive.tar.xz' <(fetch -L "$url/cuda_nvcc/linux-x86_64")
    check "no way out" equal "$(status --path-as-is "$url/../$(basename "$here")/selftest.sh")" 404
    check "head" grep -qi "^content-length: $size" <(fetch -I "$url/$file")
    check "404" equal "$(status "$url/gone.json")" 404
    fault() { printf '%s %s\n' "$file" "$1" >"$mirror/.faults"; }
    fault 503:9@1
    check "503 once" equal "$(status "$url/$file") $(status "$url/$file")" "503 200"
    fault truncate:1000
    check "truncate" equal "$(fetch "$url/$file" 2>/dev/null | wc -c)" 1000
    fault stall:1000
    check "stall" equal "$(fetch --max-time 1 "$url/$file" 2>/dev/null | wc -c)" 1000
    fault swap
    fetch "$url/$file" >"$work/swapped"
    check "swap keeps the length" equal "$(stat -c %s "$work/swapped")" "$size"
    check "swap" bash -c "! cmp -s '$work/swapped' '$mirror/$file'"
    fault extra
    check "extra" equal "$(fetch "$url/$file" | wc -c)" $((size + 23))
    fault close
    check "close" equal "$(fetch "$url/$file" 2>/dev/null || echo $?)" 52
    fault html200
    check "html200" grep -q '<html>' <(fetch "$url/$file")
    fault "redirect:$url/moved?from=%s"
    check "redirect" equal "$(fetch -o /dev/null -w '%{redirect_url}' "$url/$file")" "$url/moved?from=/$file"
    fault reset:1000
    check "reset" equal "$(fetch -o /dev/null "$url/$file" || echo $?)" 56
    fault "503html:date+9 slow:9"
    check "page" grep -q '<html>' <(fetch "$url/$file")
    check "Retry-After as a date" grep -q '^Retry-After: .* GMT' <(fetch -I "$url/$file")
    fault late:0.3
    check "late" grep -q '^0\.[3-9]' <(fetch -o /dev/null -w '%{time_starttransfer}' "$url/$file")
    fault auth:me:secret
    check "auth" equal "$(status "$url/$file") $(status -u me:secret "$url/$file")" "401 200"
    fault length:+9
    check "length that is too large" equal "$(fetch -o /dev/null "$url/$file" || echo $?)" 18
    fault length:-9
    check "length that is too small" equal "$(fetch "$url/$file" | wc -c)" $((size - 9))
    fault chunked
    check "chunks" cmp <(fetch "$url/$file") "$mirror/$file"
    fault "chunked truncate:1000"
    check "chunks cut off" equal "$(fetch -o /dev/null "$url/$file" || echo $?)" 18
    fault gzip
    check "gzip" cmp <(fetch "$url/$file" | gzip -dc) "$mirror/$file"
    fault encoding:gzip
    check "encoding that is not so" cmp <(fetch "$url/$file") "$mirror/$file"
    part() { fetch -D "$work/head" -r 100-199 "$@" "$url/$file" | wc -c; }
    says() { grep -qi "^$1"$'\r''$' "$work/head" || { cat "$work/head"; return 1; }; }
    for wrong in "shifted 0 content-range: bytes 199-199/$size" "whole 0 content-range: bytes 0-199/$size" \
        "total 100 content-range: bytes 100-199/$((size + 7))" "unit 100 content-range: 100-199/$size"; do
        fault "badrange:${wrong%% *}"
        part >/dev/null
        check "badrange ${wrong%% *}" says "${wrong#* * }"
    done
    fault badrange:none
    check "badrange none" equal "$(part) $(grep -ci content-range "$work/head")" "100 0"
    fault partial:10
    check "partial" equal "$(status "$url/$file") $(fetch "$url/$file" | wc -c)" "206 $((size - 10))"
    fault 416
    check "416 where a range was asked for" equal "$(status "$url/$file") $(status -r 5-9 "$url/$file")" "200 416"
    rm "$mirror/.faults"
    part >/dev/null
    tag=$(sed -n 's/^ETag: \(.*\)\r$/\1/p' "$work/head") date=$(sed -n 's/^Last-Modified: \(.*\)\r$/\1/p' "$work/head")
    check "If-Range" equal "$(part -H "If-Range: $tag") $(part -H "If-Range: $date") $(part -H 'If-Range: "x"')" "100 100 $size"
    fault weaketag
    check "weak ETag" equal "$(part -H "If-Range: W/$tag")" "$size"
    fault noetag
    check "no ETag" equal "$(part -H "If-Range: $tag") $(part -H "If-Range: $date")" "$size 100"
    fault novalidators
    check "no validators" equal "$(part -H "If-Range: $date") $(part) $(grep -cE '^(ETag|Last)' "$work/head")" "$size 100 0"
    fault newetag
    check "new ETag" equal "$(part -H "If-Range: $tag")" "$size"
    fault mixed
    check "mixed" bash -c "! cmp -s '$mirror/$file' <(curl -s --noproxy '*' -r 0- -H 'If-Range: $tag' '$url/$file')"
    check "mixed is not said" equal "$(part -H "If-Range: $tag")" 100
    fault random:7
    chance() { for _ in $(seq 40); do status "$url/$file" | head -c 1; done; }
    check "random" bash -c "[[ $(chance) == *2* && $(chance) == *5* ]]"
    fault truncate
    check "fault without its number" equal "$(status "$url/$file")" 500
    fault misspelt
    check "misspelt fault" equal "$(status "$url/$file")" 500
    fault norange
    check "norange" equal "$(status -r 5- "$url/$file")" 200
    rm "$mirror/.faults"
    check "log" grep -q "^GET /$file bytes=100-199 206 100$" "$work/log"
    kill "$server"
    check "ends on SIGTERM" gone "$server"
    bash -c 'python3 "$1/http_server.py" "$2" --port-file "$3" &
             while [[ ! -f $3 ]]; do sleep 0.05; done
             echo $! >"$3.pid"' - "$here" "$mirror" "$work/port2"
    check "ends with its parent" gone "$(cat "$work/port2.pid")"
}

check_hostile() {
    local kind mirror=$work/mirror
    for kind in $(python3 "$here/hostile.py" --list); do
        check "hostile $kind" python3 "$here/hostile.py" "$mirror" 12.8.1 "$kind"
        check "manifest with $kind" grep -q '\.666-archive\.tar\.xz' "$mirror/redistrib_12.8.1.json"
        case $kind in
            readonly-dirs | hardlinks)
                check "$kind unpacks" merge "$mirror" 12.8.1 "$work/$kind" ;;
            empty | not-xz | truncated)
                check "$kind does not unpack" bash -c "! tar -tf '$mirror'/cuda_nvcc/linux-x86_64/*.666-archive.tar.xz" ;;
        esac
    done
    check "hard links share a file" equal "$(stat -c %h "$work/hardlinks/bin/ptxas")" 3
}

check_compiler() {  # check_compiler NAME RELEASE OPTION...
    local name=$1 release=$2 status=0 prefix=$work/real-$2
    shift 2
    python3 "$here/make_mirror.py" "$work/real" "$@" >"$work/made" 2>&1 || status=$?
    if ((status == 77)); then
        skipped=$((skipped + 1))
        cat "$work/made"
        return
    fi
    check "$name: mirror" equal $status 0
    [[ -n $release ]] || release=$(sed -n 's/.*: \([0-9.]*\), .*/\1/p' "$work/made") prefix=$work/real-$release
    check "$name: merge" merge "$work/real" "$release" "$prefix"
    cat >"$work/real.cu" <<'CU'
#include <cuda.h>
#include <cstdio>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
__global__ void twice(int *p) { p[threadIdx.x] *= 2; }
int main(int count, char **) {
    int version = 0;
    if (cuDriverGetVersion(&version) != CUDA_SUCCESS || count > 1) return std::printf("no driver\n"), 0;
    thrust::device_vector<int> numbers(8, 3);
    twice<<<1, 8>>>(thrust::raw_pointer_cast(numbers.data()));
    std::printf("%d\n", thrust::reduce(numbers.begin(), numbers.end()));
}
CU
    check "$name: compile" env -i PATH=/usr/local/bin:/usr/bin:/bin HOME="$work" \
        "$prefix/bin/nvcc" -arch=sm_80 -o "$work/real.out" "$work/real.cu" -lcuda
    check "$name: static runtime" bash -c "! readelf -d '$work/real.out' | grep -q 'NEEDED.*cudart'"
}

check_samples
check_server
check_hostile
if [[ ${1:-} == --real ]]; then
    check_compiler toolkit "" --from-toolkit
    check_compiler wheels "${2:-13.1.1}" --from-wheels "${2:-13.1.1}" --components minimal
fi
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
((failed == 0))
