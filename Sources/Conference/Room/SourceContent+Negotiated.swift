import Compositing
import MediaCore
import SDP
import SecureTransport

extension SourceContent {
    /// The content of a negotiated stream.
    init(_ content: NegotiatedMedia.Content) {
        self =
            switch content {
            case .main: .camera
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
