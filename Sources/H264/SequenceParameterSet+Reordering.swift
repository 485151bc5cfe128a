import MediaCore

extension SequenceParameterSet {
    /// The number of frames that may precede a frame in decoding order and follow it in output order.
    ///
    /// It is `max_num_reorder_frames` if that was sent. Otherwise it is zero for the Baseline profiles (without B
    /// slices), for picture order count type 2 (output order is decoding order) and for the intra-only profiles, and
    /// for the others the size of the level's picture buffer (H.264 E.2.1).
    public var reorderDepth: Int {
        if let restriction = usability?.bitstreamRestriction { return restriction.maximumReorderFrames }
        if profileLevel.profileIDC == 66 || pictureOrderCount == .decodingOrder { return 0 }
        let canBeIntraOnly: Set<UInt8> = [44, 86, 100, 110, 122, 244]
        if canBeIntraOnly.contains(profileLevel.profileIDC), hasConstraintSet3 { return 0 }
        return maximumDecodedFrames
    }

    /// `MaxDpbFrames`: how many frames of this size the level's picture buffer holds (H.264 A.3.1, A.3.2), at most 16.
    public var maximumDecodedFrames: Int {
        let macroblocks = codedDimensions.area / 256
        // A picture too large for its level still needs its reference frames.
        let buffered = Self.maximumBufferedMacroblocks(levelIDC: profileLevel.level.idc)
        return min(max(buffered / max(macroblocks, 1), maximumReferenceFrames, 1), 16)
    }

    private var hasConstraintSet3: Bool { profileLevel.constraintFlags & 0x10 != 0 }

    /// `level_idc` and `MaxDpbMbs` (H.264 table A-1).
    private static let bufferedMacroblocks: [(level: UInt8, count: Int)] = [
        (10, 396), (11, 900), (12, 2376), (20, 2376), (21, 4752), (22, 8100), (30, 8100), (31, 18000), (32, 20480),
        (40, 32768), (41, 32768), (42, 34816), (50, 110_400), (51, 184_320), (52, 184_320), (60, 696_320),
        (61, 696_320), (62, 696_320),
    ]

    /// The macroblocks of all pictures that a decoder keeps at a level; level 1b, which is 9, buffers as level 1.
    package static func maximumBufferedMacroblocks(levelIDC: UInt8) -> Int {
        // A level we do not know is taken for the next one above.
        bufferedMacroblocks.first { $0.level >= levelIDC }?.count ?? 696_320
    }
}
