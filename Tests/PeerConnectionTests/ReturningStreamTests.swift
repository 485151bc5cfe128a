import MediaCore
import SDP
import Testing

@testable import PeerConnection

/// Streams that one offer leaves out and a further one takes up again.
@Suite struct ReturningStreamTests {
    private func media(
        _ kind: NegotiatedMedia.Kind, ssrc: UInt32, retransmissions: UInt32? = nil, flexFEC: UInt32? = nil
    ) -> NegotiatedMedia {
        NegotiatedMedia(
            kind: kind, index: 0, mid: "a", payloadType: 96, retransmissionPayloadType: retransmissions.map { _ in 97 },
            flexFECPayloadType: flexFEC.map { _ in 98 }, clockRate: 90_000, direction: .sendAndReceive, keys: nil,
            feedback: .video, localSSRC: ssrc, localRetransmissionSSRC: retransmissions, localFlexFECSSRC: flexFEC)
    }

    @Test(
        "a line that was disabled sends from the source that the new answer names",
        arguments: [NegotiatedMedia.Kind.video, .audio])
    func disabledLine(kind: NegotiatedMedia.Kind) {
        var generator = SeededGenerator(seed: 5)
        let line = MediaLine(media(kind, ssrc: 1))
        line.setUpStreams(using: &generator)
        #expect((line.videoSender?.ssrc ?? line.audioSender?.ssrc) == 1)
        line.disable(using: &generator)
        line.update(media(kind, ssrc: 2), using: &generator)
        #expect((line.videoSender?.ssrc ?? line.audioSender?.ssrc) == 2)
    }
}
