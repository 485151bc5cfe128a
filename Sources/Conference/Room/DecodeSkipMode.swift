import VideoCoding

/// Which of a source's frames are decoded, and how, by how the source is seen.
public enum DecodeSkipMode: String, Codable, Hashable, Sendable {
    /// Every frame, as it was meant.
    case full
    /// Every frame, but without the loop filter those that no other refers to: nothing adds up.
    case filteredReferences = "filtered-references"
    /// Without the loop filter, and without the frames that no other refers to where pictures come often enough.
    case referenceFrames = "reference-frames"
    /// Keyframes alone: nobody sees it.
    case keyframes = "keyframes"

    /// How the decoder is to take the frames that it gets.
    var loopFilter: DecodingEffort.LoopFilter {
        switch self {
        case .full, .keyframes: .all
        case .filteredReferences: .references
        case .referenceFrames: .none
        }
    }

    /// Which frames it gets.
    var frames: DecodingEffort.Frames {
        switch self {
        case .full, .filteredReferences: .all
        case .referenceFrames: .references
        case .keyframes: .keyframes
        }
    }
}
