public import Compositing

/// The choices of one participant for its own picture; missing parts follow the room.
///
/// As JSON it is like `RoomLayout`, with every key optional and one more:
/// `{"layout":"pinned","participant":"k3v9…","hide":["x7…"],"selfView":"always"}`.
public struct ParticipantLayout: Hashable, Sendable {
    /// The layout; nil for the room's.
    public var mode: LayoutMode?
    /// The fit of cameras; nil: as in the room.
    public var fit: LayerFit.Mode?
    /// The participants that are left out, by their identifiers in URLs, in addition to those that the room hides.
    /// Their audio is heard.
    public var hidden: [String]
    /// The self-view of the participant; nil: as chosen at the join.
    public var selfView: SelfView?

    public init(
        _ mode: LayoutMode? = nil, fit: LayerFit.Mode? = nil, hidden: [String] = [],
        selfView: SelfView? = nil
    ) {
        self.mode = mode
        self.fit = fit
        self.hidden = hidden
        self.selfView = selfView
    }

    /// True if nothing is chosen.
    package var isEmpty: Bool { self == ParticipantLayout() }
}

extension ParticipantLayout: Codable {
    private enum CodingKeys: String, CodingKey {
        case layout, participant, selfView
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let isArranged = try container.contains(.layout) && !container.decodeNil(forKey: .layout)
        guard isArranged || !container.contains(.participant) else {
            throw DecodingError.dataCorruptedError(
                forKey: .participant, in: container,
                debugDescription:
                    "\"participant\" is for the layouts pinned and solo: give one of them as \"layout\"")
        }
        mode = isArranged ? try LayoutMode(from: decoder) : nil
        let options = try LayoutOptions(from: decoder)
        fit = options.fit
        hidden = options.hidden
        selfView = try container.decodeChoice(forKey: .selfView)
    }

    public func encode(to encoder: any Encoder) throws {
        try mode?.encode(to: encoder)
        try LayoutOptions(fit: fit, hidden: hidden).encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(selfView, forKey: .selfView)
    }
}

/// The keys of a layout's JSON besides the layout itself, for a room and for a participant.
struct LayoutOptions {
    var fit: LayerFit.Mode?
    var hidden: [String] = []
}

extension LayoutOptions: Codable {
    private enum CodingKeys: String, CodingKey {
        case fit
        case hidden = "hide"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        fit = try container.decodeChoice(forKey: .fit)
        var seen: Set<String> = []
        hidden = try (container.decodeIfPresent([String].self, forKey: .hidden) ?? []).filter {
            seen.insert($0).inserted
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(fit, forKey: .fit)
        if !hidden.isEmpty { try container.encode(hidden, forKey: .hidden) }
    }
}
