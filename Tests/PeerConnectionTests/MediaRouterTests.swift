import MediaCore
import NIOCore
import RTP
import SDP
import SecureTransport
import Testing

@testable import PeerConnection

/// The lines of packets that arrive.
@Suite struct MediaRouterTests {
    @Test("reports of sources with the same number are taken on each line that has keys of its own")
    func sharedNumber() throws {
        let session = try KeyedSession(OfferParameters(address: KeyedSession.source, bundle: false), seed: 12)
        for media in session.remote.media {
            let keys = try #require(media.keys)
            let outbound = try SRTPContext(keys: keys.outbound, direction: .outbound)
            var datagram = RTCPPacket.encode([.receiverReport(ReceiverReport(ssrc: 1))])
            try outbound.protect(rtcp: &datagram)
            #expect(session.peer.receive(datagram, from: KeyedSession.source, now: KeyedSession.now) == .accepted)
        }
        #expect(session.peer.router.unauthenticated == 0 && session.peer.router.replayed == 0)
    }

    @Test("a packet whose source nobody named is of the line whose keys fit, of lines with one payload type")
    func keysThatFit() throws {
        var parameters = OfferParameters(address: KeyedSession.source, bundle: false)
        parameters.screenShare = OfferParameters.Video(direction: .sendOnly)
        let session = try KeyedSession(parameters, seed: 12)
        func receive(
            _ media: NegotiatedMedia, ssrc: UInt32, keys: SRTPKeyMaterial
        ) throws -> PeerConnection.ReceiveOutcome {
            var datagram = RTPPacket(
                payloadType: media.payloadType, sequenceNumber: 1, timestamp: 0, ssrc: ssrc,
                payload: ByteBuffer(bytes: [0x09, 0xF0])
            ).encode()
            try SRTPContext(keys: keys, direction: .outbound).protect(rtp: &datagram)
            return session.peer.receive(datagram, from: KeyedSession.source, now: KeyedSession.now)
        }
        let video = session.remote.media.filter { $0.kind == .video }
        #expect(video.count == 2 && video[0].payloadType == video[1].payloadType)
        for (index, media) in video.enumerated() {
            let ssrc = UInt32(71 + index)
            #expect(try receive(media, ssrc: ssrc, keys: try #require(media.keys).outbound) == .accepted)
            #expect(session.peer.lines.contains { $0.negotiated.content == media.content && $0.receivedSSRC == ssrc })
        }
        #expect(session.peer.router.unauthenticated == 0)
        // Keys of the other direction are of no line.
        #expect(try receive(video[0], ssrc: 73, keys: try #require(video[0].keys).inbound) == .unauthenticated)
        #expect(session.peer.router.unauthenticated == 1)
    }

    @Test("a sender that changes its source more often than its key has places for sources is heard all the same")
    func manySources() throws {
        var remote = try KeyedRemote()
        for number in 0..<UInt32(3 * SRTPContext.maximumSourceCount) {
            try remote.sendVideo(from: 1000 + number)
            remote.now += .seconds(5)
        }
    }

    @Test("a sender is heard again after more new sources within a minute than may follow each other so fast")
    func sourcesInBursts() throws {
        var remote = try KeyedRemote()
        var ssrc: UInt32 = 1000
        for _ in 0..<8 {
            for _ in 0..<40 {
                _ = try remote.videoOutcome(from: ssrc)
                ssrc += 1
                remote.now += .seconds(1)
            }
            remote.now += .seconds(240)
            try remote.sendVideo(from: ssrc)
            ssrc += 1
        }
    }

    @Test("a receiver whose reports come from more sources than its key has places for is heard all the same")
    func manyReportingSources() throws {
        var remote = try KeyedRemote()
        for number in 0..<UInt32(3 * SRTPContext.maximumSourceCount) {
            try remote.say([.receiverReport(ReceiverReport(ssrc: 1000 + number))])
            remote.now += .seconds(5)
        }
        try remote.sendVideo(from: 1)
    }

    @Test("a sender with another source for each packet is not heard once its key has no places")
    func inventedSources() throws {
        let remote = try KeyedRemote()
        var heard = 0
        for number in 0..<UInt32(3 * SRTPContext.maximumSourceCount) {
            if try remote.videoOutcome(from: 1000 + number) == .accepted { heard += 1 }
        }
        #expect(heard < 2 * SRTPContext.maximumSourceCount)
    }
}
