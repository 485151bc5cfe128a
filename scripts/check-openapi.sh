#!/usr/bin/env bash
# Sends a relay with a call requests made at random from docs/openapi.json, and checks each answer against it with
# schemathesis: no 5xx, no status, type, field or form of JSON that is not in the description.
#   scripts/check-openapi.sh FOLDER-OF-PROGRAMS [CASES-OF-AN-OPERATION] [SEED]
# The programs are built already. schemathesis is installed, at this version, into .build/openapi-tools.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ $# -lt 1 || $# -gt 3 || ! -x $1/confrelay ]]; then
    echo "usage: $0 FOLDER-OF-PROGRAMS [CASES-OF-AN-OPERATION] [SEED]" >&2
    exit 64
fi
bin=$1 cases=${2:-20} seed=${3:-1}
version=4.32.5
tools=.build/openapi-tools
if ! "$tools/bin/schemathesis" --version 2>/dev/null | grep -q " $version$"; then
    echo "Installing schemathesis $version into $tools"
    { python3 -m venv "$tools" &&
        "$tools/bin/pip" install --quiet --disable-pip-version-check "schemathesis==$version"; } || {
        echo "The HTTP interface is not checked against docs/openapi.json: schemathesis cannot be installed" >&2
        exit 77
    }
fi

work=$(mktemp -d)
relay='' client=''
finish() {
    if [[ $client ]]; then kill -INT "$client" 2>/dev/null || true; fi
    if [[ $relay ]]; then kill -TERM "$relay" 2>/dev/null || true; fi
    wait
    rm -rf "$work"
}
trap finish EXIT

"$bin/confrelay" --port 0 --overload-control off --canvas 320x180 --frame-rate 5 \
    --player-files "$work" --players-from 127.0.0.1 >"$work/relay" 2>"$work/log" &
relay=$!
for _ in $(seq 100); do
    if grep -q listening "$work/relay"; then break; fi
    sleep 0.1
done
CONFRELAY_URL=$(grep -o 'http://[^ ]*' "$work/relay") || {
    echo "the relay does not start: $(cat "$work/log")" >&2
    exit 70
}
export CONFRELAY_URL
# Somebody stays in the room.
"$bin/confclient" join "$CONFRELAY_URL/rooms/demo" --name Ada --size 160x90 --frame-rate 5 --quiet >"$work/call" 2>&1 &
client=$!
for _ in $(seq 100); do
    if curl --silent --fail --output /dev/null "$CONFRELAY_URL/rooms/demo"; then break; fi
    sleep 0.1
done
# Without a call most requests are about a room that is not there, and all would pass.
if ! curl --silent --fail --output /dev/null "$CONFRELAY_URL/rooms/demo"; then
    echo "nobody could join: $(cat "$work/call")" >&2
    exit 70
fi

echo 'hooks = "scripts/openapi/hooks.py"' >"$work/schemathesis.toml"
checks=not_a_server_error,status_code_conformance,content_type_conformance
checks=$checks,response_headers_conformance,response_schema_conformance
# Event streams do not end, so they are left to the tests.
"$tools/bin/schemathesis" --config-file "$work/schemathesis.toml" run "$CONFRELAY_URL/openapi.json" \
    --checks "$checks" --exclude-path-regex '/events$' --phases examples,coverage,fuzzing \
    --max-examples "$cases" --seed "$seed" --suppress-health-check all --warnings off --continue-on-failure --no-color
if ! kill -0 "$relay"; then
    echo "the relay ended: $(cat "$work/log")" >&2
    exit 70
fi
