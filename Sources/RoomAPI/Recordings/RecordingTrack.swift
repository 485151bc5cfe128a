/// Names a track of a recording: what one participant sends, or the mix of all.
public struct RecordingTrack: Codable, Hashable, Sendable {
    public enum Content: String, Codable, Hashable, Sendable, CaseIterable {
        case camera, screenShare, audio, mix

        public var isVideo: Bool { self == .camera || self == .screenShare }
    }

    /// The participant's id in URLs; nil for the mix.
    public var participant: String?
    public var content: Content

    public init(participant: String?, content: Content) {
        self.participant = participant
        self.content = content
    }

    public static let mix = RecordingTrack(participant: nil, content: .mix)

    /// The beginning of the names of the track's files. It has no personal names in it.
    public var fileNamePrefix: String { participant.map { "\($0)-\(content.rawValue)" } ?? content.rawValue }
}
