#!/bin/sh
# draw-live-strip.sh [FOLDER]: lets a participant join a live room, share a screen, be followed by a pin, and leave, with
# real programs and a real browser, and writes what somebody else sees: every picture as a PNG in FOLDER
# (.build/live-strip by default), from which docs/images/live-*.png are chosen. Needs chromium and chromedriver.
set -eu
cd "$(dirname "$0")/.."
folder=${1:-$PWD/.build/live-strip}
mkdir -p "$folder"
rm -f "$folder"/*.png
CONFRELAY_STRIP=$(cd "$folder" && pwd) swift test --filter LiveStripTests
ls "$folder" | wc -l
