import Compositing
import MediaCore
import SDP
import SecureTransport

extension SourceContent {
    /// What a negotiated stream shows.
    init(_ content: NegotiatedMedia.Content) {
        self =
            switch content {
            case .main: .camera
            case .screenShare: .screenShare
            }
    }

    /// What the stream of this content is called in a session.
    var negotiated: NegotiatedMedia.Content {
        switch self {
        case .camera: .main
        case .screenShare: .screenShare
        }
    }
}
