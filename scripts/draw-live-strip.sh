#!/bin/sh
# draw-live-strip.sh [FOLDER]: lets a participant join a live room, share a screen, be followed by a pin, and leave,
# with real programs and a real browser, and writes what somebody else sees as nine PNGs into FOLDER (docs/images by
# default, where docs/layouts.md shows them). Needs chromium and chromedriver, and a machine that is not busy with
# something else.
set -eu
cd "$(dirname "$0")/.."
folder=${1:-docs/images}
mkdir -p "$folder"
CONFRELAY_STRIP=$(cd "$folder" && pwd) swift test --filter LiveStripTests
