import RTP
import SDP

@testable import PeerConnection

extension VideoReceiveStream {
    /// A stream of a sender that answers such feedback, without encryption.
    convenience init(feedback: FeedbackSupport) {
        self.init(
            NegotiatedMedia(
                kind: .video, index: 0, payloadType: 96, direction: .receiveOnly, keys: nil, feedback: feedback,
                localSSRC: 1))
    }
}
