/// The small pictures before a name in a label.
public struct LabelIcons: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// A crossed-out microphone: nothing is heard of the participant.
    public static let microphoneMuted = LabelIcons(rawValue: 1 << 0)
    /// A screen: this is the participant's screen, not the camera.
    public static let screen = LabelIcons(rawValue: 1 << 1)

    /// The single icons, in the order in which they are drawn.
    static let all: [LabelIcons] = [.microphoneMuted, .screen]
}
