/// The limits of the time until sent data leaves for one receiver, which sending, encoding and forwarding share. Bounds
/// of a single frame's size are in `FrameBound`.
public enum LatencyBudget {
    /// If more than this waits at the sender or on the link, no frame is encoded, no keyframe is begun and no packet is
    /// repeated.
    public static let beforeFrame = Duration.milliseconds(120)
    /// If more than this waits, a forwarded frame to which no other refers is left out.
    public static let beforeDispensableFrame = Duration.milliseconds(80)
    /// A forwarded keyframe that keeps the link busy for longer than this is not begun with.
    public static let forwardedKeyframe = Duration.milliseconds(200)
    /// The limit of data sent beyond the rate, as time at the rate. It is about the longest queue on the path. Beyond
    /// it, only a few frames a second are encoded, and forwarding gives way to an encoder.
    public static let debt = Duration.milliseconds(250)
    /// Packets that were sent again take at most this, as time at their share of the rate, before others wait.
    public static let retransmissions = Duration.milliseconds(500)
    /// If more than this has been sent in excess of the rate, nothing is encoded.
    public static let mostDebt = Duration.seconds(1)
}
