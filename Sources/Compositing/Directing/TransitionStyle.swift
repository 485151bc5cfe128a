/// The style of a change from one view to the next.
public struct TransitionStyle: Hashable, Sendable {
    /// The duration of a change; with zero, nothing moves or fades.
    public var duration: Duration
    /// The easing of moving tiles. Fades have their own (`Easing.easeOut` in, `.easeIn` out): if one picture replaces
    /// another, the background hardly shows through.
    public var easing: Easing

    public init(duration: Duration, easing: Easing = .easeInOut) {
        self.duration = duration
        self.easing = easing
    }

    /// A change of 300 ms that begins and ends slowly.
    public static let standard = TransitionStyle(duration: .milliseconds(300))
    /// Everything changes at once.
    public static let off = TransitionStyle(duration: .zero)
}
