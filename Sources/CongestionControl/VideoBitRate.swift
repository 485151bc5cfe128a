public import MediaCore

/// A video encoder's rate.
public struct VideoBitRate: Hashable, Sendable {
    /// The target for the next frame. A controller that follows the path from frame to frame may lower it for a frame
    /// or two only, to let a queue drain.
    public var target: BitRate
    /// The rate over several frames.
    public var sustained: BitRate

    public init(target: BitRate, sustained: BitRate) {
        self.target = target
        self.sustained = sustained
    }
}
