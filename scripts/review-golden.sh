#!/bin/sh
# Reviews the pictures that golden tests have left in out/golden (see docs/testing.md): writes a page that shows them,
# lists them, and accepts those that it is told to.
#
#   scripts/review-golden.sh          asks for each
#   scripts/review-golden.sh all      accepts all
#   scripts/review-golden.sh none     lists them only
set -eu
cd "$(dirname "$0")/.."
left=out/golden
accepted=Tests/CompositingTests/Golden
page=$left/index.html

names=$(find "$left" -name '*-actual.png' 2>/dev/null | sed 's|.*/||; s|-actual\.png$||' | sort)
if [ -z "$names" ]; then
    echo "All golden pictures are as they were accepted."
    exit 0
fi

{
    echo '<!DOCTYPE html><meta charset="utf-8"><title>Golden pictures</title>'
    echo '<style>body{font-family:sans-serif;background:#777}figure{margin:.5em 0}'
    echo 'img{max-width:100%;image-rendering:pixelated}</style>'
    for name in $names; do
        echo "<h2>$name</h2>"
        for kind in expected actual difference; do
            [ -f "$left/$name-$kind.png" ] || continue
            echo "<figure><figcaption>$kind</figcaption><img src=\"$name-$kind.png\"></figure>"
        done
    done
} >"$page"

for name in $names; do
    if [ -f "$left/$name-expected.png" ]; then echo "differs: $name"; else echo "new:     $name"; fi
done
echo "To look at them, open $page"

accept() {
    mkdir -p "$accepted"
    mv "$left/$1-actual.png" "$accepted/$1.png"
    rm -f "$left/$1-expected.png" "$left/$1-difference.png"
    echo "accepted $1"
}

answer=${1:-}
remaining=0
for name in $names; do
    case $answer in
    all | none) choice=$answer ;;
    *)
        printf 'Accept %s? [y]es, [N]o, [a]ll that are left, [q]uit: ' "$name"
        read -r choice || choice=q
        ;;
    esac
    case $choice in
    y | yes) accept "$name" ;;
    a | all)
        answer=all
        accept "$name"
        ;;
    q | quit)
        answer=none
        remaining=$((remaining + 1))
        ;;
    *) remaining=$((remaining + 1)) ;;
    esac
done
if [ "$remaining" -gt 0 ]; then
    echo "$remaining not accepted."
    exit 1
fi
