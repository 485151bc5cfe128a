import Compositing

/// The origins of composed pictures, counted since the room began.
public struct PictureCounters: Encodable, Hashable, Sendable {
    /// Pictures that the compositor rendered.
    public var rendered: UInt64 = 0
    /// Pictures that were returned again because nothing had changed.
    public var reused: UInt64 = 0
    /// A source's own picture, handed out unchanged.
    public var passedThrough: UInt64 = 0
    /// The last good picture, because the compositor failed.
    public var fallbacks: UInt64 = 0

    mutating func count(_ origins: [ComposedPicture.Origin]) {
        for origin in origins {
            switch origin {
            case .rendered: rendered &+= 1
            case .reused: reused &+= 1
            case .passthrough: passedThrough &+= 1
            case .fallback: fallbacks &+= 1
            }
        }
    }
}
