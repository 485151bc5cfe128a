/// The content of a participant's source.
public enum SourceContent: String, Codable, Hashable, Sendable, CaseIterable {
    /// The participant.
    case camera
    /// A screen or a window that the participant shares.
    case screenShare
}

/// Names a picture that can stand on a canvas.
public struct SourceID: Hashable, Sendable {
    public var participant: ParticipantID
    public var content: SourceContent

    public init(participant: ParticipantID, content: SourceContent) {
        self.participant = participant
        self.content = content
    }

    public static func camera(_ participant: ParticipantID) -> SourceID {
        SourceID(participant: participant, content: .camera)
    }

    public static func screenShare(_ participant: ParticipantID) -> SourceID {
        SourceID(participant: participant, content: .screenShare)
    }
}

extension SourceID: CustomStringConvertible {
    public var description: String { "\(content.rawValue) of \(participant)" }
}
