/// A server that a room's picture and sound are to be sent to, as `POST /rooms/{room}/outputs` takes it:
/// `{"url":"rtmp://live.example.org/app/key","name":"Example","layout":"speaker","size":"1280x720"}`.
public struct OutputRequest: Hashable, Sendable {
    /// The server, with the stream's key: a secret.
    public var url: String
    /// A name for people; nil: none.
    public var name: String?
    /// The picture.
    public var composite: CompositeSettings

    /// The longest name, in bytes of UTF-8.
    public static let longestName = 64

    public init(url: String, name: String? = nil, composite: CompositeSettings = CompositeSettings()) {
        self.url = url
        self.name = name
        self.composite = composite
    }
}

extension OutputRequest: Codable {
    private enum CodingKeys: String, CodingKey {
        case url, name
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        url = try container.decode(String.self, forKey: .url)
        name = try container.decodeIfPresent(String.self, forKey: .name)
        if let name {
            let isShown = name.unicodeScalars.allSatisfy { !$0.properties.generalCategory.isControl }
            guard (1...Self.longestName).contains(name.utf8.count), isShown else {
                throw DecodingError.dataCorruptedError(
                    forKey: .name, in: container,
                    debugDescription: "\"name\" must have 1 to \(Self.longestName) bytes, and no control characters")
            }
        }
        composite = try CompositeSettings(from: decoder)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(url, forKey: .url)
        try container.encodeIfPresent(name, forKey: .name)
        try composite.encode(to: encoder)
    }
}

extension Unicode.GeneralCategory {
    /// True if a character of this kind changes how text is shown, in place of being shown.
    fileprivate var isControl: Bool { [.control, .format, .lineSeparator, .paragraphSeparator].contains(self) }
}
