public import Compositing
public import MediaCore

/// Who is shown where.
public enum LayoutMode: Hashable, Sendable {
    /// All in tiles of one size. While someone presents: `presentation`.
    case grid
    /// Who speaks is large, the others stand in a strip. While someone presents: `presentation`.
    case speaker
    /// Who speaks and who spoke before, or what is presented and who speaks, share the canvas.
    case sideBySide
    /// Who speaks, or what is presented, takes the whole canvas; the next one stands in its corner.
    case pictureInPicture
    /// What is presented is large, the others stand in a strip. Until someone presents: `speaker`.
    case presentation
    /// One participant is large, whoever speaks: what they present, or their camera. Others stand in a strip.
    case pinned(participant: String)
    /// One participant alone: what they present, or their camera.
    case solo(participant: String)
    /// A layout of one's own.
    case template(LayoutTemplate)

    /// The participant, by their id in URLs, whom the layout is about.
    public var participant: String? {
        switch self {
        case .pinned(let participant), .solo(let participant): participant
        case .grid, .speaker, .sideBySide, .pictureInPicture, .presentation, .template: nil
        }
    }

    /// What JSON calls the layouts.
    public enum Name: String, Codable, CaseIterable, Sendable {
        case grid, speaker
        case sideBySide = "side-by-side"
        case pictureInPicture = "picture-in-picture"
        case presentation, pinned, solo, template

        /// The layouts that need no template.
        public static let builtIn = allCases.filter { $0 != .template }

        /// Whether the layout is about one participant.
        public var isAboutParticipant: Bool { self == .pinned || self == .solo }
    }

    /// A built-in layout.
    ///
    /// - Parameter participant: The participant of `pinned` and `solo`.
    /// - Returns: Nil for a template.
    public init?(_ name: Name, participant: String = "") {
        switch name {
        case .grid: self = .grid
        case .speaker: self = .speaker
        case .sideBySide: self = .sideBySide
        case .pictureInPicture: self = .pictureInPicture
        case .presentation: self = .presentation
        case .pinned: self = .pinned(participant: participant)
        case .solo: self = .solo(participant: participant)
        case .template: return nil
        }
    }

    /// The layout that places sources; `speaker` instead of a layout about a participant that is not there.
    public func layout(images: ImageLibrary, participant: (String) -> ParticipantID?) -> Layout {
        switch self {
        case .grid: .grid
        case .speaker: .speaker
        case .sideBySide: .sideBySide
        case .pictureInPicture: .pictureInPicture
        case .presentation: .presentation
        case .pinned(let id): participant(id).map(Layout.pinned) ?? .speaker
        case .solo(let id): participant(id).map(Layout.solo) ?? .speaker
        case .template(let template): .template(template, images: images)
        }
    }

    public var name: Name {
        switch self {
        case .grid: .grid
        case .speaker: .speaker
        case .sideBySide: .sideBySide
        case .pictureInPicture: .pictureInPicture
        case .presentation: .presentation
        case .pinned: .pinned
        case .solo: .solo
        case .template: .template
        }
    }
}

extension LayoutMode: Codable {
    private enum CodingKeys: String, CodingKey {
        case layout, participant, template
    }

    /// - Throws: `DecodingError`; of a wrong template a `LayoutTemplateError`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let text = try container.decode(String.self, forKey: .layout)
        guard let name = Name(rawValue: text) else {
            let known = Name.allCases.map(\.rawValue).joined(separator: ", ")
            throw DecodingError.dataCorruptedError(
                forKey: .layout, in: container, debugDescription: "there is no layout \"\(text)\"; use one of \(known)")
        }
        let participant = name.isAboutParticipant ? try container.decode(String.self, forKey: .participant) : ""
        if let mode = LayoutMode(name, participant: participant) {
            self = mode
        } else {
            self = .template(try container.decode(LayoutTemplate.self, forKey: .template))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .layout)
        try container.encodeIfPresent(participant, forKey: .participant)
        if case .template(let template) = self { try container.encode(template, forKey: .template) }
    }
}
