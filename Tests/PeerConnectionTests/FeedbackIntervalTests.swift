import MediaCore
import RTP
import SDP
import SecureTransport
import Testing

@testable import PeerConnection

/// The time between two reports on arrivals.
@Suite struct FeedbackIntervalTests {
    /// The number of reports on arrivals in a second of much media.
    private func reports(of remote: KeyedRemote, inSecond second: Int) throws -> Int {
        var count = 0
        for step in 100 * second..<100 * (second + 1) {
            let now = remote.now + .milliseconds(10 * Int64(step))
            remote.peer.feedback.received(DataSize(bytes: 2500), now: now)
            remote.peer.feedback.received(transportSequence: UInt16(step), arrival: now, now: now)
            remote.peer.wake(now: now)
            for packet in try remote.heard() {
                if case .transportFeedback = packet { count += 1 }
            }
        }
        return count
    }

    @Test("an interval that an offer states holds until a further offer states none")
    func stated() throws {
        let remote = try KeyedRemote()
        var session = remote.peer.session
        session.feedbackInterval = .milliseconds(20)
        try remote.peer.update(session: session, now: remote.now)
        #expect(try reports(of: remote, inSecond: 0) > 30)
        session.feedbackInterval = nil
        try remote.peer.update(session: session, now: remote.now + .seconds(1))
        #expect(try reports(of: remote, inSecond: 1) < 25)
    }
}
