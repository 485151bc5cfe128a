/// Names a track of a recording: what one participant sends, the mix of all, or the room's picture with the mix.
public struct RecordingTrack: Codable, Hashable, Sendable {
    public enum Content: String, Codable, Hashable, Sendable, CaseIterable {
        case camera, screenShare, audio, mix, composite

        /// True if it is the video of one participant.
        public var isVideo: Bool { self == .camera || self == .screenShare }
    }

    /// The participant's id in URLs; nil for the mix and for a composite.
    public var participant: String?
    public var content: Content

    public init(participant: String?, content: Content) {
        self.participant = participant
        self.content = content
    }

    public static let mix = RecordingTrack(participant: nil, content: .mix)
    public static let composite = RecordingTrack(participant: nil, content: .composite)

    /// The beginning of the names of the track's files. It has no personal names in it.
    public var fileNamePrefix: String { participant.map { "\($0)-\(content.rawValue)" } ?? content.rawValue }
}
