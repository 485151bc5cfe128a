/// A server that a room's picture and sound are to be sent to, as `POST /rooms/{room}/outputs` takes it:
/// `{"url":"rtmp://live.example.org/app/key","name":"Example","layout":"speaker","size":"1280x720"}`.
public struct OutputRequest: Hashable, Sendable {
    /// The server, with the stream's key: a secret.
    public var url: String
    /// A name for people; nil: none.
    public var name: String?
    /// The picture.
    public var composite = CompositeSettings()
}

extension OutputRequest: Codable {
    private enum CodingKeys: String, CodingKey {
        case url, name
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        url = try container.decode(String.self, forKey: .url)
        name = try container.decodeShownName(forKey: .name)
        composite = try CompositeSettings(from: decoder)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(url, forKey: .url)
        try container.encodeIfPresent(name, forKey: .name)
        try composite.encode(to: encoder)
    }
}
