/// How what is shown changes to what is wanted.
public struct TransitionStyle: Hashable, Sendable {
    /// How long a change takes; none, and nothing moves or fades.
    public var duration: Duration
    /// How tiles glide. Fades have their own (`Easing.easeOut` in, `.easeIn` out): where one picture takes another's
    /// place, what lies behind hardly shines through.
    public var easing: Easing

    public init(duration: Duration, easing: Easing = .easeInOut) {
        self.duration = duration
        self.easing = easing
    }

    /// 300 ms, slow at first and at last.
    public static let standard = TransitionStyle(duration: .milliseconds(300))
    /// Everything changes at once.
    public static let off = TransitionStyle(duration: .zero)
}
