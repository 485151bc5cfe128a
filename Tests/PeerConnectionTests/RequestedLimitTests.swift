import MediaCore
import RTP
import ResearchControllers
import SDP
import Testing

@testable import PeerConnection

/// Bounds on video that its receiver asks for.
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

    @Test("a source that takes the place of one that confirmed a bound is asked for it, too")
    func replacedSource() throws {
        let remote = try KeyedRemote()
        let video = try #require(remote.session.video)
        func asked() throws -> [UInt32] {
            remote.peer.sendReports(now: remote.now)
            return try remote.heard().flatMap { packet -> [UInt32] in
                guard case .maximumBitRateRequest(let request) = packet else { return [] }
                return request.limits.map(\.ssrc)
            }
        }
        try remote.sendVideo(from: video.localSSRC)
        remote.peer.limitReceivedVideo(to: Self.low)
        #expect(try asked() == [video.localSSRC])
        let asker = try #require(remote.peer.session.video).localSSRC
        let kept = BitRateLimit(ssrc: asker, maximum: Self.low, overhead: DataSize(bytes: 40))
        try remote.say([
            .receiverReport(ReceiverReport(ssrc: video.localSSRC)),
            .maximumBitRateNotification(BitRateLimits(senderSSRC: video.localSSRC, limits: [kept])),
        ])
        #expect(try asked().isEmpty)
        try remote.sendVideo(from: video.localSSRC &+ 1)
        #expect(try asked() == [video.localSSRC &+ 1])
    }
}
