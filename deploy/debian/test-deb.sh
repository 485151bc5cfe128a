#!/usr/bin/env bash
# Installs, starts, upgrades, removes and purges the Debian package, and says what each step leaves behind:
#   deploy/debian/test-deb.sh OLD.deb NEW.deb        (as root)
# Everything happens in a throw-away copy of this system: an overlay in memory, with processes and a network of its
# own. There is no init system in it, so the script starts what the unit's ExecStart says.
set -euo pipefail

if [[ ${1:-} != --inside ]]; then
    if [[ $# -ne 2 || ! -f $1 || ! -f $2 ]]; then
        echo "usage: $0 OLD.deb NEW.deb" >&2
        exit 64
    fi
    if [[ $(id -u) -ne 0 ]]; then
        echo "$0: must run as root, to make a root of its own" >&2
        exit 77
    fi
    exec unshare --mount --pid --net --uts --fork --kill-child "$0" --inside "$(realpath "$1")" "$(realpath "$2")" \
        "$(realpath "$0")"
fi

old=$2 new=$3 script=$4
if [[ -z ${CONFRELAY_TEST_ROOT:-} ]]; then
    work=$(mktemp -d)
    mount -t tmpfs tmpfs "$work"
    mkdir "$work/upper" "$work/work" "$work/root"
    mount -t overlay overlay -o "lowerdir=/,upperdir=$work/upper,workdir=$work/work" "$work/root"
    for folder in dev sys; do mount --rbind "/$folder" "$work/root/$folder"; done
    mount -t proc proc "$work/root/proc"
    mount -t tmpfs tmpfs "$work/root/run"
    mount -t tmpfs tmpfs "$work/root/tmp"
    mkdir "$work/root/tmp/upper" "$work/root/tmp/before"
    mount --bind "$work/upper" "$work/root/tmp/upper"
    mount --bind / "$work/root/tmp/before"
    cp "$old" "$work/root/tmp/old.deb"
    cp "$new" "$work/root/tmp/new.deb"
    cp "$script" "$work/root/tmp/test-deb.sh"
    ip link set lo up
    exec env CONFRELAY_TEST_ROOT=1 chroot "$work/root" \
        /tmp/test-deb.sh --inside /tmp/old.deb /tmp/new.deb /tmp/test-deb.sh
fi

export DEBIAN_FRONTEND=noninteractive TMPDIR=/tmp HOME=/root
cd /

say() { printf '\n== %s\n' "$*"; }
fail() {
    echo "FAILED: $*" >&2
    exit 1
}
expect() { "${@:2}" || fail "$1"; }
quietly() { "$@" >/tmp/output 2>&1 || { cat /tmp/output >&2; fail "$*"; }; }

# What is otherwise than before, without the books of dpkg and caches that every package touches.
left() {
    (cd /tmp/upper && find . -mindepth 1 \( ! -type d -o -empty \) | sed 's/^\.//' |
        grep -vE '^/(var/lib/dpkg|var/cache|var/log/(dpkg|apt|alternatives)|etc/ld.so.cache)' |
        grep -vE '^/var/lib/systemd/deb-systemd' |
        grep -vE '^/(tmp|run|root|dev|proc|sys)(/|$)' | sort |
        # A folder that was there, and that files came and went in.
        while read -r path; do
            if [[ ! -d /tmp/upper$path || ! -d /tmp/before$path ]]; then echo "$path"; fi
        done) || true
}
start() {
    read -r -a command < <(sed -n 's/^ExecStart=//p' /usr/lib/systemd/system/confrelay.service)
    setpriv --reuid confrelay --regid confrelay --clear-groups "${command[@]}" --overload-control off \
        >/tmp/relay.out 2>/tmp/relay.err &
    relay=$!
    for _ in $(seq 100); do
        if grep -q listening /tmp/relay.out; then return; fi
        sleep 0.1
    done
    cat /tmp/relay.err >&2
    fail "the relay does not start"
}
status() { curl --silent --output /dev/null --write-out '%{http_code}' "http://127.0.0.1:7000$1"; }
wait_for_status() {
    for _ in $(seq 100); do
        if [[ $(status "$1") == "$2" ]]; then return; fi
        sleep 0.1
    done
    fail "$1 does not answer $2"
}
call=(confclient join http://127.0.0.1:7000/rooms/demo --name Ada --size 160x90 --frame-rate 5 --quiet)

if dpkg-query --show confrelay >/dev/null 2>&1; then fail "confrelay is installed on this system already"; fi

say "install $(dpkg-deb --field "$old" Version)"
quietly dpkg --install "$old"
expect "the user confrelay is there" getent passwd confrelay
expect "the user's shell is none" grep -q '^confrelay:.*nologin$' /etc/passwd
quietly confrelay config check /etc/confrelay/confrelay.yaml
quietly systemd-analyze verify /usr/lib/systemd/system/confrelay.service
systemd-analyze security --offline=yes --threshold=20 /usr/lib/systemd/system/confrelay.service | tail -n 1
for page in confrelay confrelay-{archive,calibrate,cluster,config,key,layout,token} confclient confsim; do
    # Of a file, because of a page by its name man may keep the formatter's warnings to itself.
    warnings=$(man --warnings=all --local-file "/usr/share/man/man1/$page.1.gz" 2>&1 >/dev/null)
    expect "the manual page $page is well-formed: $warnings" test -z "$warnings"
done
for page in /usr/share/doc/confrelay/*.md; do
    for other in $(grep -oE '\]\([a-z-]+\.(md|json)' "$page" | cut -c3-); do
        expect "$page names $other" test -f "/usr/share/doc/confrelay/$other"
    done
done
missing=$(ldd /usr/bin/confrelay /usr/bin/confclient /usr/bin/confsim | grep 'not found' || true)
expect "all libraries are there: $missing" test -z "$missing"
size=$(dpkg-query --show --showformat='${Installed-Size}' confrelay)
echo "installed: $(dpkg --listfiles confrelay | grep -c .) paths, $size KiB"

say "start, and a call"
start
quietly "${call[@]}" --duration 3
echo "a call of 3 s went well"

say "upgrade to $(dpkg-deb --field "$new" Version) during a call"
echo '# ours' >>/etc/confrelay/confrelay.yaml
"${call[@]}" >/tmp/call.out 2>&1 &
caller=$!
wait_for_status /rooms/demo 200
quietly dpkg --install --force-confdef --force-confold "$new"
expect "the changed options are kept" grep -q '^# ours$' /etc/confrelay/confrelay.yaml
# As "systemctl restart" begins.
kill -TERM "$relay"
wait_for_status /readyz 503
late=$(curl --silent --output /dev/null --write-out '%{http_code}' --header 'Content-Type: application/sdp' \
    --data 'v=0' http://127.0.0.1:7000/rooms/demo/participants)
expect "joins get 503 while the relay drains: $late" test "$late" = 503
sleep 2
expect "the call goes on" kill -0 "$caller"
kill -TERM "$caller"
wait "$caller" || fail "the call ended badly: $(cat /tmp/call.out)"
wait "$relay" || fail "the old relay ended badly: $(cat /tmp/relay.err)"
start
quietly "${call[@]}" --duration 3
echo "the call in progress went on, joins were refused meanwhile, then the new relay took a call"

say "remove"
kill -TERM "$relay"
wait "$relay" || fail "the relay ended badly: $(cat /tmp/relay.err)"
quietly dpkg --remove confrelay
hash -r
for program in confrelay confclient confsim; do
    if command -v "$program" >/dev/null; then fail "$program is left"; fi
done
expect "options are kept" test -f /etc/confrelay/confrelay.yaml
echo "left until the purge:"
left | sed 's/^/  /'

say "purge"
# Recordings on a disk of their own.
disk=/var/lib/confrelay/recordings
mkdir "$disk"
mount -t tmpfs tmpfs "$disk"
touch "$disk/film.mp4"
quietly dpkg --purge confrelay
expect "the recordings are deleted" test -z "$(ls -A "$disk")"
umount "$disk"
rmdir "$disk" "${disk%/*}"
for path in /etc/confrelay /var/lib/confrelay /var/log/confrelay; do
    if [[ -e $path ]]; then fail "$path is left"; fi
done
echo "left for good (the user confrelay):"
left | sed 's/^/  /'
users='^/etc/\.?(passwd|group|shadow|gshadow)(-|\.lock|\.pwd\.lock)?$|^/etc/\.pwd\.lock$'
unexpected=$(left | grep -vE "$users" || true)
expect "nothing else is left: $unexpected" test -z "$unexpected"

say "all as documented"
