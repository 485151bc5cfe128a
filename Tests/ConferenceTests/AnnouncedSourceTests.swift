import MediaCore
import MediaFixtures
import RTP
import SDP
import SecureTransport
import Testing

@testable import Conference
@testable import PeerConnection

/// Owners of packets whose keys the descriptions carry.
@Suite struct AnnouncedSourceTests {
    @Test("the owner of a source that a further offer announces is known when no more keys may be tried")
    func furtherOffer() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        try call.renegotiate(ada) { $0.screenShare = OfferParameters.Video(direction: .sendOnly) }
        let source = try #require(ada.peer.session.screenShare).localSSRC
        let (relay, now) = (call.relay, call.now)
        while !relay.demultiplexer.candidates(ssrc: source &+ 1, excluding: nil, now: now).isEmpty {}
        let owners = relay.demultiplexer.candidates(ssrc: source, excluding: nil, now: now)
        #expect(owners.map(\.publicID) == [ada.participantID])
    }
}
