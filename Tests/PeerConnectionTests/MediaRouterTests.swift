import MediaCore
import RTP
import SDP
import SecureTransport
import Testing

@testable import PeerConnection

/// The lines of packets that arrive.
@Suite struct MediaRouterTests {
    @Test("reports of sources with the same number are taken on each line that has keys of its own")
    func sharedNumber() throws {
        let address = TransportAddress(ipv4: 0x7f00_0001, port: 20_000)
        let now = MonotonicInstant(nanoseconds: 1_000_000_000)
        var random = SeededGenerator(seed: 12)
        let (offer, pending) = OfferAnswer.makeOffer(OfferParameters(address: address, bundle: false), using: &random)
        let (answer, session) = try OfferAnswer.answer(
            offer: offer, policy: AnswerPolicy(publicAddress: TransportAddress(ipv4: 0x7f00_0001, port: 7000)),
            using: &random)
        let peer = try PeerConnection(
            session: session,
            configuration: PeerConfiguration(rateLimits: KeyedPath.limits, trustsRemoteDescription: true, seed: 5),
            wallClock: WallClock(ntpAtOrigin: NTPTime(rawValue: 3_900_000_000 << 32)), now: now)
        for media in try OfferAnswer.complete(pending: pending, answer: answer).media {
            let keys = try #require(media.keys)
            let outbound = try SRTPContext(keys: keys.outbound, direction: .outbound)
            var datagram = RTCPPacket.encode([.receiverReport(ReceiverReport(ssrc: 1))])
            try outbound.protect(rtcp: &datagram)
            #expect(peer.receive(datagram, from: address, now: now) == .accepted)
        }
    }
}
