# Two data centers of 512 NICs each (16 leaves x 32 spines, 400 Gb/s), joined by 8 links of 400 Gb/s, and three training
# jobs on fragmented placements; the third has its data-parallel rings across both. Sourced: two_dc HEDDLE FOLDER makes
# FOLDER/fabric.json and FOLDER/problem.json.
two_dc() {
    "$1" generate multi-dc --sites 2 --leaves 16 --spines 32 --nics 32 --gbps 400 --wan-links 8 --wan-gbps 400 \
        --border-switches 4 -o "$2/fabric.json"
    "$1" generate jobs "$2/fabric.json" --place fragmented --block 4 --seed 7 \
        --job ring:256/8 --job ring:192/8 --job ring:256/16:1:1e9:across -o "$2/problem.json"
}
