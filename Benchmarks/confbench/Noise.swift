/// Values from 0 to 255 on grids of several grains, bilinear between the points.
struct Noise {
    private static let side = 64
    private let points: [Int]

    init(seed: UInt64) {
        // SplitMix64.
        var state = seed
        points = (0..<Self.side * Self.side).map { _ in
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
            return Int((value ^ (value >> 31)) & 255)
        }
    }

    func value(x: Int, y: Int, grain: Int) -> Int {
        let (column, row) = (x / grain, y / grain)
        let (right, below) = (x % grain, y % grain)
        func point(_ column: Int, _ row: Int) -> Int {
            points[row % Self.side * Self.side + column % Self.side]
        }
        let top = point(column, row) * (grain - right) + point(column + 1, row) * right
        let bottom = point(column, row + 1) * (grain - right) + point(column + 1, row + 1) * right
        return (top * (grain - below) + bottom * below) / (grain * grain)
    }
}
