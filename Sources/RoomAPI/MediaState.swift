/// What a participant says of their microphone and camera; nil leaves it as it was. As JSON:
/// `{"microphone":false}`.
public struct MediaState: Codable, Hashable, Sendable {
    /// Whether the microphone is on. Who is muted does not become the speaker, whatever noise arrives.
    public var microphone: Bool?
    /// Whether the camera is on. While it is off the tile shows the placeholder, whatever pictures arrive.
    public var camera: Bool?

    public init(microphone: Bool? = nil, camera: Bool? = nil) {
        self.microphone = microphone
        self.camera = camera
    }
}
