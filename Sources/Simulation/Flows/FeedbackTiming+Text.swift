public import CongestionControl
import LinkEmulation

extension FeedbackTiming {
    /// The texts that `init(parsing:)` accepts, for messages.
    public static let expected = "browser, confclient or a time such as 16ms"

    /// Parses the name of a receiver or a fixed interval; nil for any other text.
    public init?(parsing text: String) {
        switch text {
        case "browser": self = .browser
        case "confclient": self = .confclient
        default:
            guard let interval = LinkProfile.duration(text), interval > .zero else { return nil }
            self = .every(interval)
        }
    }
}
