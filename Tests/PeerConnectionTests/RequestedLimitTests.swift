import MediaCore
import RTP
import ResearchControllers
import SDP
import Testing

@testable import PeerConnection

/// Bounds on our video that sources of its receiver ask for.
@Suite struct RequestedLimitTests {
    private static let low = BitRate.kilobits(200)

    /// A path whose receiver asks for much under its own source, and for little under another one.
    private func makePath() throws -> (path: KeyedPath, other: UInt32) {
        let path = try KeyedPath(controller: FixedRateController(rate: .kilobits(300)))
        let other = path.media.localSSRC &+ 1
        try path.run(for: .milliseconds(100))
        try path.say([
            .maximumBitRateRequest(
                BitRateLimits(
                    senderSSRC: other,
                    limits: [
                        BitRateLimit(ssrc: path.sentSSRC, maximum: Self.low, overhead: DataSize(bytes: 40))
                    ]))
        ])
        return (path, other)
    }

    private func isLimited(_ path: KeyedPath) throws -> Bool {
        try #require(path.peer.requestedVideoLimit) < Self.low
    }

    @Test("a bound ends with the goodbye of its source")
    func goodbye() throws {
        let (path, other) = try makePath()
        try path.run(for: .seconds(2))
        #expect(try isLimited(path))
        try path.say([.receiverReport(ReceiverReport(ssrc: other)), .bye(Goodbye(ssrcs: [other]))])
        #expect(try !isLimited(path))
    }

    @Test("a bound lasts as long as its source reports, and ends half a minute later")
    func silence() throws {
        let (path, other) = try makePath()
        try path.run(for: .seconds(20))
        try path.say([.receiverReport(ReceiverReport(ssrc: other))])
        try path.run(for: .seconds(20))
        #expect(try isLimited(path))
        try path.run(for: .seconds(12))
        #expect(try !isLimited(path))
    }
}
