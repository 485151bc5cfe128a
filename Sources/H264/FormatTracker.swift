public import MediaCore

/// Follows the parameter sets of a stream and determines the format of each frame.
public struct FormatTracker: Sendable {
    private(set) var store = ParameterSetStore()
    private var cached: (sequenceParameterSetID: UInt8, format: VideoFormatDescription)?

    public init() {}

    /// Takes a parameter set, which replaces an earlier one with its id, even if it cannot be parsed. Other NAL units
    /// are ignored.
    public mutating func add(_ nalUnit: NALUnit) {
        if (try? store.insert(nalUnit)) != false { cached = nil }
    }

    /// The format of the frame that a slice belongs to; nil if the slice is broken or its parameter sets are missing.
    public mutating func format(of slice: NALUnit) -> VideoFormatDescription? {
        guard let header = try? SliceHeader(parsing: slice, parameterSets: store),
            let set = store.pictureParameterSet(id: header.pictureParameterSetID)
        else { return nil }
        // A format holds all PPSs of its SPS: whichever of them a frame uses, the format is the same.
        if let cached, cached.sequenceParameterSetID == set.sequenceParameterSetID { return cached.format }
        let format = store.formatDescription(pictureParameterSetID: set.id)
        cached = format.map { (set.sequenceParameterSetID, $0) }
        return format
    }

    /// Counts the frames and fields of an access unit, as the format that was reported last has them.
    public func codedPictures(of unit: AccessUnit) -> CodedPictureCount {
        var count = unit.codedPictures
        guard let cached, store.sequenceParameterSet(id: cached.sequenceParameterSetID)?.isFrameOnly == false else {
            return count
        }
        // Slices behind those count as of frames: a sender decides how many there are.
        let beginnings = unit.nalUnits.lazy.filter { $0.type.hasSliceHeader && $0.beginsPicture }
        for slice in beginnings.prefix(Self.mostFields)
        where (try? SliceHeader(parsing: slice, parameterSets: store))?.isField == true { count.fields += 1 }
        return count
    }

    /// A frame has two fields, and a stream may have a redundant picture of each.
    private static let mostFields = 4
}
