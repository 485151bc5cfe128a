public import Compositing
public import MediaCore

/// The arrangement of participants in a picture.
public enum LayoutMode: Hashable, Sendable {
    /// All cameras in tiles of one size. With a screen share, this is `speaker`.
    case grid
    /// The screen share, or else the speaker, is large; the others are in a strip.
    case speaker
    /// The speaker and the speaker before, or the screen share and the speaker, share the canvas.
    case sideBySide
    /// The speaker or the screen share fills the canvas; the next source is in its corner.
    case pictureInPicture
    /// The same as `speaker`, under the name by which those who share a screen look for it.
    case presentation
    /// One participant is large, by its screen share or else its camera. The others are in a strip.
    case pinned(participant: String)
    /// One participant alone, by its screen share or else its camera.
    case solo(participant: String)
    /// A custom layout.
    case template(LayoutTemplate)

    /// The participant that the layout names, by its identifier in URLs.
    public var participant: String? {
        switch self {
        case .pinned(let participant), .solo(let participant): participant
        case .grid, .speaker, .sideBySide, .pictureInPicture, .presentation, .template: nil
        }
    }

    /// The names of layouts in JSON.
    public enum Name: String, Codable, CaseIterable, Sendable {
        case grid, speaker
        case sideBySide = "side-by-side"
        case pictureInPicture = "picture-in-picture"
        case presentation, pinned, solo, template

        /// The layouts that need no template.
        public static let builtIn = allCases.filter { $0 != .template }

        public var isAboutParticipant: Bool { self == .pinned || self == .solo }

        /// The layout in a few words.
        public var summary: String {
            switch self {
            case .grid: "all participants in tiles of one size"
            case .speaker: "the speaker large, the others in a strip"
            case .sideBySide: "the last two speakers, or a screen share and the speaker, each on half of the canvas"
            case .pictureInPicture: "the speaker or a screen share on the whole canvas, the next one in its corner"
            case .presentation: "a screen share large, the others in a strip"
            case .pinned: "one participant large, the others in a strip (--participant)"
            case .solo: "one participant alone (--participant)"
            case .template: "a custom layout, from a file"
            }
        }
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
        case .speaker, .presentation: .speaker
        case .sideBySide: .sideBySide
        case .pictureInPicture: .pictureInPicture
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
