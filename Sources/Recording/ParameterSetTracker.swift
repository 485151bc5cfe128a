import H264
import MediaCore

/// Follows the parameter sets of a stream and tells the format of each frame.
struct ParameterSetTracker {
    private var store = ParameterSetStore()
    private var cached: (pictureParameterSetID: UInt8, format: VideoFormatDescription)?

    /// Takes a parameter set, in place of an earlier one with its id; other NAL units and broken sets are ignored.
    mutating func add(_ nalUnit: NALUnit) {
        if (try? store.insert(nalUnit)) == true { cached = nil }
    }

    /// The format of the frame that a slice belongs to; nil where the slice is broken or its parameter sets are missing.
    mutating func format(of slice: NALUnit) -> VideoFormatDescription? {
        guard let header = try? SliceHeader(parsing: slice, parameterSets: store) else { return nil }
        let id = header.pictureParameterSetID
        if let cached, cached.pictureParameterSetID == id { return cached.format }
        let format = store.formatDescription(pictureParameterSetID: id)
        cached = format.map { (id, $0) }
        return format
    }
}
