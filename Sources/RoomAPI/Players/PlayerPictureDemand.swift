public import MediaCore

/// For what the pictures of a player are encoded: a recording of tracks, or another relay.
public struct PlayerPictureDemand: Hashable, Sendable {
    /// The size in which they are seen; larger ones are made smaller.
    public var tile: VideoDimensions
    public var rate: BitRate
    /// True if the next frame has to be a keyframe.
    public var needsKeyframe: Bool

    public init(tile: VideoDimensions, rate: BitRate, needsKeyframe: Bool) {
        self.tile = tile
        self.rate = rate
        self.needsKeyframe = needsKeyframe
    }
}
