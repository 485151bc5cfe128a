import CongestionControl
import MediaCore
import Testing

@testable import Conference
@testable import PeerConnection

/// Transport-wide feedback of a connection.
@Suite struct TransportFeedbackTests {
    @Test("a sender that begins with probes, before any of its streams, gets feedback on them, once")
    func probesFirst() throws {
        let call = VirtualCall()
        _ = try call.join("Ada", colour: nil, overDTLS: true)
        let peer = try #require(call.relay.participants.values.first).peer
        peer.feedback.received(transportSequence: 7, arrival: call.now, now: call.now)
        let later = call.now + .milliseconds(200)
        #expect(peer.nextWakeUp(now: later) <= later)
        peer.wake(now: later)
        #expect(peer.feedback.nextDeadline > later)
        #expect(peer.nextWakeUp(now: later) > later)
    }
}
