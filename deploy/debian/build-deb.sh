#!/usr/bin/env bash
# Makes the Debian package out/confrelay_VERSION_ARCH.deb of programs that are built already:
#   deploy/debian/build-deb.sh FOLDER-OF-PROGRAMS [VERSION]
# VERSION is that of the program, with the time of the commit behind it, so that each newer build is an upgrade: in a
# shallow clone commits cannot be counted.
set -euo pipefail
cd "$(dirname "$0")/../.."
# The package's folders are everybody's to read, however private files are that the builder makes.
umask 022

usage() {
    echo "usage: $0 FOLDER-OF-PROGRAMS [VERSION]" >&2
    exit 64
}
[[ $# -ge 1 && $# -le 2 && -d $1 ]] || usage
bin=$(realpath "$1")
program_version=$("$bin/confrelay" --version | sed 's/^confrelay //')
commit_time=$(TZ=UTC git log -1 --date=format-local:%Y%m%d%H%M%S --format=%cd 2>/dev/null || echo 0)
version=${2:-$program_version+$commit_time}
architecture=$(dpkg --print-architecture)

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
# dpkg-shlibdeps wants the layout of a source package.
package=$root/debian/confrelay
mkdir -p "$package/DEBIAN"

for program in confrelay confclient confsim; do
    install -D --mode=755 "$bin/$program" "$package/usr/bin/$program"
    strip --strip-unneeded --remove-section=.comment "$package/usr/bin/$program"
done

install -D --mode=644 deploy/systemd/confrelay.service "$package/usr/lib/systemd/system/confrelay.service"
install -D --mode=644 deploy/debian/sysusers.conf "$package/usr/lib/sysusers.d/confrelay.conf"
# What is not set is a comment, so that the program's defaults hold. Those that follow from the number of cores are not
# the ones of this machine.
mkdir -p "$package/etc/confrelay"
"$bin/confrelay" config print --drain 5m | sed -E 's/^# (workers|max-encoders): [0-9]+$/# \1: <n>/' \
    >"$package/etc/confrelay/confrelay.yaml"
chmod 644 "$package/etc/confrelay/confrelay.yaml"

manual() {
    local page=$1
    shift
    mkdir -p "$package/usr/share/man/man1"
    "$bin/$1" "${@:2}" --experimental-dump-help |
        python3 deploy/debian/man-page.py --version "$program_version" \
            --see-also $(printf '%s\n' $pages | grep -vx "$page") |
        gzip --best --no-name >"$package/usr/share/man/man1/$page.1.gz"
}
pages="confrelay confrelay-archive confrelay-calibrate confrelay-cluster confrelay-config confrelay-key confrelay-layout
    confrelay-token confclient confsim"
for page in $pages; do manual "$page" ${page/-/ }; done

documentation=$package/usr/share/doc/confrelay
install -D --mode=644 deploy/debian/copyright "$documentation/copyright"
# All pages, since they and the alerts name each other.
cp -r docs/*.md docs/openapi.json docs/examples deploy/monitoring "$documentation"
gzip --best --no-name --stdout CHANGELOG.md >"$documentation/changelog.gz"
chmod -R u=rwX,go=rX "$documentation"

for script in postinst prerm postrm; do
    install --mode=755 "deploy/debian/$script" "$package/DEBIAN/$script"
done
echo /etc/confrelay/confrelay.yaml >"$package/DEBIAN/conffiles"

# The libraries that the programs are linked with, as packages.
touch "$root/debian/control"
libraries=$(cd "$root" && dpkg-shlibdeps -O --ignore-missing-info debian/confrelay/usr/bin/* 2>"$root/warnings" |
    sed 's/^shlibs:Depends=//') || { cat "$root/warnings" >&2; exit 70; }
cat >"$package/DEBIAN/control" <<CONTROL
Package: confrelay
Version: $version
Architecture: $architecture
Maintainer: confrelay <confrelay@localhost>
Section: net
Priority: optional
Depends: $libraries, fonts-dejavu-core, init-system-helpers, systemd | systemd-standalone-sysusers
Recommends: fonts-noto-core, fonts-noto-color-emoji, fonts-droid-fallback, fonts-nanum
Installed-Size: $(du --summarize --block-size=1024 "$package" | cut -f1)
Description: conferencing relay
 Every participant sends one H.264 and one Opus stream and gets back one picture
 of the others and one mix, encoded in real time at the bitrate that its network
 carries. With a page for browsers, test clients (confclient) and a simulator
 (confsim).
CONTROL

mkdir -p out
deb=out/confrelay_${version}_$architecture.deb
dpkg-deb --root-owner-group --build "$package" "$deb" >/dev/null
echo "$deb"
