public import CongestionControl
import LinkEmulation
import MediaCore

extension FeedbackTiming {
    /// What `init(parsing:)` reads, for messages.
    public static let expected = "browser, confclient or a time such as 16ms"

    /// Reads whose receiver it is, or a fixed interval; nil for what is neither.
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
