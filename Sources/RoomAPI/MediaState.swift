/// The state of a participant's microphone and camera; nil leaves it unchanged. As JSON: `{"microphone":false}`.
public struct MediaState: Codable, Hashable, Sendable {
    /// True if the microphone is on. A muted participant does not become the speaker, whatever noise arrives.
    public var microphone: Bool?
    /// True if the camera is on. While it is off the tile shows the placeholder, whatever pictures arrive.
    public var camera: Bool?
    /// True if a hand is raised.
    public var hand: Bool?

    public init(microphone: Bool? = nil, camera: Bool? = nil, hand: Bool? = nil) {
        self.microphone = microphone
        self.camera = camera
        self.hand = hand
    }
}
