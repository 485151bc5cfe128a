#!/usr/bin/env bash
# Installs the Debian packages that confrelay is built with, those that are missing only. With --test also what the
# tests run, with --package what its own Debian package is made and tested with. Says what it installs; says nothing
# when nothing is missing.
set -euo pipefail

packages=(
    libavcodec-dev libavformat-dev libavutil-dev libswresample-dev libswscale-dev libopenh264-dev libx264-dev libva-dev
    libsrtp2-dev libsrt-gnutls-dev libssl-dev libcurl4-openssl-dev libopus-dev libebur128-dev libyuv-dev libpango1.0-dev
    pkg-config make
    # The fonts of names: Latin, Greek and Cyrillic; most other scripts; Korean; Chinese and Japanese; emoji in colour.
    # The first is enough to run.
    fonts-dejavu-core fonts-noto-core fonts-nanum fonts-droid-fallback fonts-noto-color-emoji
)
test_packages=(
    ffmpeg curl gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad
    gstreamer1.0-plugins-ugly gstreamer1.0-libav gstreamer1.0-nice chromium chromium-driver
    python3-gi gir1.2-gst-plugins-bad-1.0 iproute2 etcd-server
    # promtool, for deploy/monitoring; schemathesis, for docs/openapi.json.
    prometheus python3-venv
)
package_packages=(dpkg-dev binutils python3 man-db curl iproute2)

case "${1:-}" in
"") ;;
--test) packages+=("${test_packages[@]}") ;;
--package) packages+=("${package_packages[@]}") ;;
*)
    echo "usage: $0 [--test | --package]" >&2
    exit 64
    ;;
esac

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "This is not Debian or Ubuntu. Install what these packages hold by your system's own means, then run" \
        "'swift build': ${packages[*]}" >&2
    exit 69
fi

missing=()
for package in "${packages[@]}"; do
    status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
    # One word for each architecture that has it, the machine's own first.
    # pkg-config is a name that newer releases give to pkgconf; what counts is the program.
    if [[ $status != installed* ]] && ! { [[ $package == pkg-config ]] && command -v pkg-config >/dev/null; }; then
        missing+=("$package")
    fi
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

as_root=()
if [[ $(id -u) -ne 0 ]]; then
    if ! command -v sudo >/dev/null; then
        echo "These packages are missing, and there is no sudo to install them with; as root, run:" \
            "apt-get install ${missing[*]}" >&2
        exit 77
    fi
    as_root=(sudo)
fi

echo "Installing missing packages: ${missing[*]}"
"${as_root[@]}" apt-get update --quiet=2
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install --yes --quiet=2 --no-install-recommends "${missing[@]}" >/dev/null
