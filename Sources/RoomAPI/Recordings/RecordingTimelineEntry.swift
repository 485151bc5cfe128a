/// A line of `timeline.jsonl`: something that happened in a recorded room, and when.
///
/// As JSON it is one flat object, for example `{"at":12.5,"type":"left","participant":"k3v9…"}`. Readers skip types
/// that they do not know.
public struct RecordingTimelineEntry: Hashable, Sendable {
    public enum Event: Hashable, Sendable {
        /// Someone came, or was there when the recording began.
        case joined(RecordedParticipant)
        /// A participant's state has changed: a mute, a name, whether they speak.
        case changed(RecordedParticipant)
        case left(participant: String)
        /// Another participant is the active speaker; nil: nobody is.
        case speaker(participant: String?)
        case layout(RoomLayout)
        /// A file begins.
        case file(RecordedFile)
        /// A file is complete.
        case fileEnded(RecordedFile)
        /// From now on, pictures of the track have to be turned clockwise by this angle.
        case rotation(RecordingTrack, degrees: Int)
        /// Samples of a track are missing.
        case gap(RecordingTrack, until: Double, reason: RecordingGapReason)
        /// The sender's clock jumped: from here on, the track's times are counted anew from the room's clock.
        case anchored(RecordingTrack)
        case ended(RecordingEndReason)
        /// Something that a later version writes.
        case unknown(type: String)
    }

    /// Seconds since the recording began.
    public var at: Double
    public var event: Event

    public init(at: Double, _ event: Event) {
        self.at = at
        self.event = event
    }
}

/// The reason why samples are missing in a track.
public enum RecordingGapReason: String, Codable, Hashable, Sendable {
    /// The disk was too slow.
    case slowDisk
}

/// A participant as a recording knows them.
public struct RecordedParticipant: Codable, Hashable, Sendable {
    public var id: String
    public var name: String
    public var microphone: Bool
    public var camera: Bool
    public var screenShare: Bool
    public var isSpeaking: Bool

    public init(id: String, name: String, microphone: Bool, camera: Bool, screenShare: Bool, isSpeaking: Bool) {
        self.id = id
        self.name = name
        self.microphone = microphone
        self.camera = camera
        self.screenShare = screenShare
        self.isSpeaking = isSpeaking
    }
}

extension RecordingTimelineEntry: Codable {
    private enum CodingKeys: String, CodingKey {
        case at, type, participant, file, track, degrees, until, reason
    }

    private enum Kind: String {
        case joined, changed, left, speaker, layout, file, fileEnded, rotation, gap, anchored, ended
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        at = try container.decode(Double.self, forKey: .at)
        let type = try container.decode(String.self, forKey: .type)
        switch Kind(rawValue: type) {
        case .joined: event = .joined(try container.decode(RecordedParticipant.self, forKey: .participant))
        case .changed: event = .changed(try container.decode(RecordedParticipant.self, forKey: .participant))
        case .left: event = .left(participant: try container.decode(String.self, forKey: .participant))
        case .speaker: event = .speaker(participant: try container.decodeIfPresent(String.self, forKey: .participant))
        case .layout: event = .layout(try RoomLayout(from: decoder))
        case .file: event = .file(try container.decode(RecordedFile.self, forKey: .file))
        case .fileEnded: event = .fileEnded(try container.decode(RecordedFile.self, forKey: .file))
        case .rotation:
            event = .rotation(
                try container.decode(RecordingTrack.self, forKey: .track),
                degrees: try container.decode(Int.self, forKey: .degrees))
        case .gap:
            event = .gap(
                try container.decode(RecordingTrack.self, forKey: .track),
                until: try container.decode(Double.self, forKey: .until),
                reason: try container.decode(RecordingGapReason.self, forKey: .reason))
        case .anchored: event = .anchored(try container.decode(RecordingTrack.self, forKey: .track))
        case .ended: event = .ended(try container.decode(RecordingEndReason.self, forKey: .reason))
        case nil: event = .unknown(type: type)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(at, forKey: .at)
        func encode(_ kind: Kind) throws { try container.encode(kind.rawValue, forKey: .type) }
        func encode(_ kind: Kind, _ value: some Encodable, _ key: CodingKeys) throws {
            try encode(kind)
            try container.encode(value, forKey: key)
        }
        switch event {
        case .joined(let participant): try encode(.joined, participant, .participant)
        case .changed(let participant): try encode(.changed, participant, .participant)
        case .left(let participant): try encode(.left, participant, .participant)
        case .speaker(let participant): try encode(.speaker, participant, .participant)
        case .layout(let layout):
            try encode(.layout)
            try layout.encode(to: encoder)
        case .file(let file): try encode(.file, file, .file)
        case .fileEnded(let file): try encode(.fileEnded, file, .file)
        case .rotation(let track, let degrees):
            try encode(.rotation, track, .track)
            try container.encode(degrees, forKey: .degrees)
        case .gap(let track, let until, let reason):
            try encode(.gap, track, .track)
            try container.encode(until, forKey: .until)
            try container.encode(reason, forKey: .reason)
        case .anchored(let track): try encode(.anchored, track, .track)
        case .ended(let reason): try encode(.ended, reason, .reason)
        case .unknown(let type): try container.encode(type, forKey: .type)
        }
    }
}
