import MediaCore
import NIOCore
import SDP
import SecureTransport
import Testing

@testable import PeerConnection

/// Packets that wait in the pacer while a further offer comes.
@Suite struct WaitingPacketTests {
    /// The number of RTP packets that leave, after a change of the audio line, of one that waits.
    private func count(after change: (inout NegotiatedMedia) -> Void) throws -> Int {
        let remote = try KeyedRemote()
        remote.peer.sendAudio(
            ByteBuffer(bytes: [0xF8]), sampleTime: 0, level: nil, captureTime: remote.now, now: remote.now)
        var session = remote.peer.session
        let index = try #require(session.media.firstIndex(where: { $0.kind == .audio }))
        change(&session.media[index])
        try remote.peer.update(session: session, now: remote.now)
        var count = 0
        while let transmit = remote.peer.pollTransmit(now: remote.now) {
            if DatagramKind.classify(transmit.datagram) == .rtp { count += 1 }
        }
        return count
    }

    @Test("a packet of a stream that continues leaves, and none of one whose line another stream has")
    func replacedStream() throws {
        let continuing = try count { $0.extensionIDs.audioLevel = nil }
        let replaced = try count {
            $0.mid = "other"
            $0.localSSRC &+= 1
        }
        #expect(continuing == 1 && replaced == 0)
    }
}
