/// The way in which a conference's pictures are made, by the relay and by the floor alike.
enum ConferenceWay: String, CaseIterable, Codable, Sendable {
    /// Nobody sees themselves: each receiver has its own picture and encoder.
    case personal
    /// One picture for all, and an encoder for each.
    case dedicated
    /// One picture for all, and one encoder.
    case shared

    static var allNames: String { allCases.map(\.rawValue).joined(separator: ", ") }

    var relayOptions: [String] {
        switch self {
        case .personal: ["--self-view", "never"]
        case .dedicated: ["--self-view", "always", "--max-encoders", "dedicated"]
        case .shared: ["--self-view", "always", "--max-encoders", "1"]
        }
    }

    /// Pictures composed with each tick.
    func compositionCount(participants: Int) -> Int { self == .personal ? participants : 1 }

    func encoderCount(participants: Int) -> Int { self == .shared ? 1 : participants }
}
