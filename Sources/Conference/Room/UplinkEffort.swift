import VideoCoding

/// What is spent on decoding a source, by how it is seen.
public enum UplinkEffort: String, Codable, Hashable, Sendable {
    /// Every frame, as it was meant.
    case full
    /// Every frame, without the loop filter: its picture is made smaller, and the edges of blocks with it.
    case withoutLoopFilter = "without-loop-filter"
    /// Without the loop filter, and without the frames that no other refers to where pictures come often enough.
    case referenceFrames = "reference-frames"
    /// Keyframes alone: nobody sees it.
    case keyFrames = "keyframes"

    /// How the decoder is to take the frames that it gets.
    var loopFilter: DecodingEffort.LoopFilter {
        switch self {
        case .full: .all
        case .withoutLoopFilter, .referenceFrames, .keyFrames: .none
        }
    }

    /// Which frames it gets.
    var frames: DecodingEffort.Frames {
        switch self {
        case .full, .withoutLoopFilter: .all
        case .referenceFrames: .references
        case .keyFrames: .keyFrames
        }
    }
}
