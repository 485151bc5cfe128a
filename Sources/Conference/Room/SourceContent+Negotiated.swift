import Compositing
import SecureTransport

extension SourceContent {
    /// What a negotiated stream shows.
    init(_ content: NegotiatedMedia.Content) {
        self =
            switch content {
            case .main: .camera
            case .slides: .slides
            }
    }
}
