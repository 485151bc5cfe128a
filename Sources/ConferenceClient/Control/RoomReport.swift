import Compositing
public import RoomAPI

/// A relay's state of a room, as far as it matters for changes.
public struct RoomReport: Codable, Sendable {
    /// A participant of the room.
    public struct Member: Decodable, Sendable {
        public var id: String
        public var name: String
        /// The choices for its own picture; nil: all as in the room.
        public var layout: ParticipantLayout?
        /// The waits in the relay of the frames that it was shown.
        var latency: [Latency]?
    }

    /// A stage of the relay, or the sum of all stages as `total`.
    struct Latency: Decodable, Sendable {
        var stage: String
        var count: Int
        var meanMilliseconds: Double
        var p95Milliseconds: Double
    }

    public var layout: RoomLayout
    public var participants: [Member]
    /// The participants at other relays of the cluster, without their choices; nil: the relay does not tell.
    public var elsewhere: [Member]?

    private var everybody: [Member] { participants + (elsewhere ?? []) }

    /// Returns the id of the participant with this name or id.
    ///
    /// - Throws: `ClientError.usage` if there is none, or several.
    public func id(of name: String) throws(ClientError) -> String {
        try everybody.id(of: name, "in the room")
    }

    /// The present choices, in lines for people.
    public var summary: [String] {
        let names = Dictionary(everybody.map { ($0.id, $0.name) }) { first, _ in first }
        func name(_ id: String) -> String { names[id] ?? id }
        let room = Self.words(layout.mode, layout.fit, layout.hidden, nil, name).joined(separator: ", ")
        return ["room: \(room)"]
            + participants.map { member in
                let words = member.layout.map {
                    Self.words($0.mode, $0.fit, $0.hidden, $0.selfView, name)
                }
                return "\(member.name) (\(member.id)): \(words?.joined(separator: ", ") ?? "as the room")"
            }
    }

    private static func words(
        _ mode: LayoutMode?, _ fit: LayerFit.Mode?, _ hidden: [String], _ selfView: SelfView?,
        _ name: (String) -> String
    ) -> [String] {
        var words: [String] = []
        if let mode {
            words.append(mode.name.rawValue + (mode.participant.map { " \(name($0))" } ?? ""))
        }
        if let fit { words.append("fit \(fit.rawValue)") }
        if !hidden.isEmpty { words.append("without \(hidden.map(name).joined(separator: " and "))") }
        if let selfView { words.append("self-view \(selfView.rawValue)") }
        return words
    }
}

extension RoomReport.Member: Encodable {
    /// The relay's delays are not among the choices, for which a report is shown.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(name, forKey: .name)
        try container.encodeIfPresent(layout, forKey: .layout)
    }
}
