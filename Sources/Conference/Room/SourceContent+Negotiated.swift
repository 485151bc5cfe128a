import MediaCore
import SDP

extension SourceContent {
    /// The content of a negotiated stream. A link between relays gives its streams the contents of their sources
    /// before a room sees them.
    init(_ content: NegotiatedMedia.Content) {
        self =
            switch content {
            case .main, .relayed: .camera
            case .screenShare: .screenShare
            }
    }

    /// The name of the content in a session.
    var negotiated: NegotiatedMedia.Content {
        switch self {
        case .camera: .main
        case .screenShare: .screenShare
        }
    }
}
