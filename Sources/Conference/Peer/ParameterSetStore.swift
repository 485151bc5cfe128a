import H264
import MediaCore
import NIOCore

/// The parameter sets that a stream has sent so far, and the format that they describe.
struct ParameterSetStore {
    /// Streams may number 32 SPS and 256 PPS; more than a few in use is hostile.
    private static let maximumCount = 16

    private var sequenceParameterSets: [ByteBuffer] = []
    private var pictureParameterSets: [ByteBuffer] = []
    private var current: VideoFormatDescription?
    private var changed = false

    /// Takes SPS and PPS NAL units; one that repeats is ignored, one with a known id and new contents replaces the old.
    mutating func insert(_ units: [NALUnit]) {
        for unit in units {
            switch unit.type {
            case .sequenceParameterSet:
                // A new SPS starts over: relays and encoders send the PPS that belong to it with it.
                if !sequenceParameterSets.contains(unit.bytes) {
                    sequenceParameterSets = [unit.bytes]
                    pictureParameterSets = []
                    changed = true
                }
            case .pictureParameterSet:
                if !pictureParameterSets.contains(unit.bytes) {
                    let identifier = (try? PictureParameterSet(parsing: unit))?.identifier
                    pictureParameterSets.removeAll { known in
                        NALUnit(bytes: known).flatMap { try? PictureParameterSet(parsing: $0) }?.identifier == identifier
                    }
                    if pictureParameterSets.count < Self.maximumCount { pictureParameterSets.append(unit.bytes) }
                    changed = true
                }
            default: break
            }
        }
    }

    /// The format in force. A changed one takes effect at an IDR; a new PPS alone at once.
    mutating func format(forNewSequence isIDR: Bool) -> VideoFormatDescription? {
        guard changed, !sequenceParameterSets.isEmpty, !pictureParameterSets.isEmpty else { return current }
        if let updated = try? VideoFormatDescription(h264ParameterSets: sequenceParameterSets + pictureParameterSets) {
            let sameSequence = current?.parameterSets.first == updated.parameterSets.first
            if isIDR || sameSequence || current == nil {
                current = updated
                changed = false
            }
        }
        return current
    }
}
