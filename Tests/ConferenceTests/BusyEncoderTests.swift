import CongestionControl
import MediaCore
import MediaFixtures
import Testing
import VideoCoding

@testable import Conference

/// The behaviour of an encoder that takes longer than a tick, while further pictures arrive.
@Suite("A busy encoder") struct BusyEncoderTests {
    private static let dimensions = VideoDimensions(width: 320, height: 180)
    private static let interval = Duration.nanoseconds(33_333_333)
    private static let hasRoom = EncodeGroup.Demand.room(keyframeBound: DataSize(bytes: 100_000))

    private let group = EncodeGroup(dimensions: dimensions, rate: .megabits(1))

    private func time(_ tick: Int64) -> MonotonicInstant { .zero + Self.interval * tick }

    private func request(_ tick: Int64) -> EncodeGroup.Request {
        EncodeGroup.Request(
            .pattern(.red, dimensions: Self.dimensions, phase: Int(tick)), at: time(tick), deadline: time(tick + 1))
    }

    private func isPostponed(_ tick: EncodeGroup.Tick) -> Bool {
        guard case .postponed = tick else { return false }
        return true
    }

    /// Begins a tick's job.
    private func begin(_ tick: EncodeGroup.Tick, now: MonotonicInstant) throws -> JobCompletion {
        try job(tick).run { now }
    }

    private func job(_ tick: EncodeGroup.Tick) throws -> Job {
        guard case .encoded(let job) = tick else {
            Issue.record("nothing is encoded")
            throw CancellationError()
        }
        return job
    }

    /// Ends a job; returns when the picture was taken that it encoded.
    private func finish(_ completion: JobCompletion) throws -> MonotonicInstant {
        guard case .encoded(_, let result) = completion.output else { throw CancellationError() }
        #expect(result.frame != nil)
        group.complete(result, of: completion)
        return result.captureTime
    }

    @Test("encodes the picture that came meanwhile as soon as it is done with the one before")
    func resumes() throws {
        let first = try begin(group.tick(request(0), demand: Self.hasRoom, now: time(0)), now: time(0))
        #expect(isPostponed(group.tick(request(1), demand: Self.hasRoom, now: time(1))))
        #expect(try finish(first) == time(0))
        let later = time(1) + .milliseconds(5)
        let second = try begin(group.resume(demand: Self.hasRoom, now: later), now: later)
        #expect(try finish(second) == time(1))
        guard case .idle = group.resume(demand: Self.hasRoom, now: time(2)) else {
            Issue.record("a picture is encoded twice")
            return
        }
        #expect(group.framesEncoded == 2)
        #expect(group.framesLeftOut == 0)
    }

    @Test("leaves a picture out when a newer one comes before it is done")
    func newestWins() throws {
        let first = try begin(group.tick(request(0), demand: Self.hasRoom, now: time(0)), now: time(0))
        #expect(isPostponed(group.tick(request(1), demand: Self.hasRoom, now: time(1))))
        #expect(group.dropPostponed() == time(1))
        #expect(isPostponed(group.tick(request(2), demand: Self.hasRoom, now: time(2))))
        #expect(try finish(first) == time(0))
        let later = time(2) + .milliseconds(5)
        let next = try begin(group.resume(demand: Self.hasRoom, now: later), now: later)
        #expect(try finish(next) == time(2))
        #expect(group.framesLeftOut == 1)
        #expect(group.dropPostponed() == nil)
    }

    @Test("encodes nothing for receivers whose links will have no room by the time that it is done")
    func noRoom() throws {
        let first = try begin(group.tick(request(0), demand: Self.hasRoom, now: time(0)), now: time(0))
        #expect(isPostponed(group.tick(request(1), demand: Self.hasRoom, now: time(1))))
        _ = try finish(first)
        guard case .leftOut = group.resume(demand: EncodeGroup.Demand(), now: time(2)) else {
            Issue.record("it is encoded for nobody")
            return
        }
        #expect(group.framesLeftOut == 1)
    }

    @Test("leaves pictures out for several receivers until the frames before have had time to leave")
    func waitsForLink() throws {
        let rate = BitRate.kilobits(20)
        group.update(
            bitRate: VideoBitRate(target: rate, sustained: rate), isShared: true, recovers: false, needsLayers: false)
        let first = try begin(group.tick(request(0), demand: Self.hasRoom, now: time(0)), now: time(0))
        guard case .encoded(_, let result) = first.output else { throw CancellationError() }
        let toSend = rate.duration(for: try #require(result.frame).size)
        try #require(toSend > .milliseconds(200))
        _ = try finish(first)
        guard case .leftOut = group.tick(request(1), demand: Self.hasRoom, now: time(0) + toSend - .milliseconds(130))
        else {
            Issue.record("a picture is encoded behind a queue")
            return
        }
        let later = time(0) + toSend - .milliseconds(110)
        #expect(try finish(try begin(group.tick(request(2), demand: Self.hasRoom, now: later), now: later)) == time(2))
    }

    @Test("encodes the newest picture when the job had to wait for a worker")
    func newestOfWaiting() throws {
        let waiting = try job(group.tick(request(0), demand: Self.hasRoom, now: time(0)))
        guard case .replaced(time(0)) = group.tick(request(1), demand: Self.hasRoom, now: time(1)) else {
            Issue.record("the job keeps its picture")
            return
        }
        #expect(try finish(waiting.run { time(2) }) == time(1))
        #expect(group.framesEncoded == 1)
        #expect(group.framesLeftOut == 1)
        guard case .idle = group.resume(demand: Self.hasRoom, now: time(2)) else {
            Issue.record("a picture is encoded twice")
            return
        }
    }
}
