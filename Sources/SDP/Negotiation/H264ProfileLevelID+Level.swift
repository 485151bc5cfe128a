extension H264ProfileLevelID {
    /// An H.264 level (H.264, A.3), ordered by its limits.
    public struct Level: Hashable, Comparable, Sendable {
        /// Ten times the level's number: 31 is level 3.1. Level 1b, which has no such number, is 9.
        public let idc: UInt8

        public init(idc: UInt8) {
            self.idc = idc
        }

        public static let level1 = Level(idc: 10)
        public static let level1b = Level(idc: 9)
        public static let level31 = Level(idc: 31)
        public static let level4 = Level(idc: 40)
        public static let level51 = Level(idc: 51)
        public static let level52 = Level(idc: 52)

        /// Level 1b lies between levels 1 and 1.1.
        private var rank: Int { idc == 9 ? 21 : 2 * Int(idc) }

        public static func < (left: Level, right: Level) -> Bool { left.rank < right.rank }
    }
}
