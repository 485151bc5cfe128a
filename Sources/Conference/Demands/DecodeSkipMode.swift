import VideoCoding

/// The frames of a source that are decoded, and the precision, depending on its largest tile.
public enum DecodeSkipMode: String, Codable, Hashable, Sendable {
    /// Every frame is decoded in full.
    case full
    /// All frames; those that no other refers to are decoded without the loop filter, so that no difference adds up.
    case filteredReferences = "filtered-references"
    /// Without the loop filter, and without the frames that no other refers to where pictures come often enough.
    case referenceFrames = "reference-frames"
    /// Keyframes alone: nobody sees it.
    case keyframes = "keyframes"

    /// The loop filter for the decoded frames.
    var loopFilter: DecodingEffort.LoopFilter {
        switch self {
        case .full, .keyframes: .all
        case .filteredReferences: .references
        case .referenceFrames: .none
        }
    }

    /// The frames that are decoded.
    var frames: DecodingEffort.Frames {
        switch self {
        case .full, .filteredReferences: .all
        case .referenceFrames: .references
        case .keyframes: .keyframes
        }
    }
}
