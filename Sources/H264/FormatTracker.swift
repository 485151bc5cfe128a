public import MediaCore

/// Follows the parameter sets of a stream and determines the format of each frame.
public struct FormatTracker: Sendable {
    private(set) var store = ParameterSetStore()
    private var cached: (sequenceParameterSetID: UInt8, format: VideoFormatDescription)?

    public init() {}

    /// Takes a parameter set, which replaces an earlier one with its id. Other NAL units are ignored, and so are sets
    /// that cannot be parsed, as if they were lost.
    public mutating func add(_ nalUnit: NALUnit) {
        if (try? store.insert(nalUnit)) == true { cached = nil }
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
}
