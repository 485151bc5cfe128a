import LoadControl
import MediaCore
import Testing
import VideoCoding

@testable import Conference

/// The time that decoding should take, by which overload control tells how fast the machine is.
@Suite struct DecodePriceTests {
    /// The seats that are left after ten seconds in which pictures of this size took so long each.
    private func seats(
        after pictures: Double, of dimensions: VideoDimensions = VideoDimensions(width: 640, height: 360),
        taking milliseconds: Double
    ) throws -> Int {
        var configuration = RelayConfiguration()
        configuration.overload = OverloadSettings(workers: 2)
        var now = MonotonicInstant.zero + .seconds(10)
        let overload = OverloadControl(configuration: configuration, now: now)
        overload.adopt(.machine(timesSlower: 10), now: now)
        var batch = DecodedBatch()
        batch.decoded = 1
        batch.samples = Double(dimensions.area)
        let output = JobOutput.decoded(.camera(1), batch)
        for _ in 0..<Int(pictures * 10) {
            let start = now
            let job = Job(
                kind: .decode, queue: JobQueueID(rawValue: 1), deadline: start, handedOut: start, work: { output })
            var times = [start, start + .milliseconds(milliseconds)]
            overload.observe(job.run { times.removeFirst() }, now: now)
            now = now + .seconds(1 / pictures)
        }
        _ = overload.update(OverloadControl.Load(), now: now)
        return try #require(overload.seatsLeft)
    }

    @Test func `large pictures that take the time of their size leave the seats as they are`() throws {
        // 4 ms for a picture of 640x360.
        let usual = try seats(after: 30, taking: 4)
        #expect(usual > 2)
        #expect(try seats(after: 5, of: VideoDimensions(width: 2560, height: 1440), taking: 64) == usual)
        #expect(try seats(after: 60, of: VideoDimensions(width: 320, height: 180), taking: 1) == usual)
    }

    @Test func `a slower machine has fewer seats, whatever the size of the pictures`() throws {
        let usual = try seats(after: 30, taking: 4)
        #expect(try seats(after: 30, taking: 10) < usual)
        #expect(try seats(after: 5, of: VideoDimensions(width: 2560, height: 1440), taking: 160) < usual)
    }

    @Test func `large pictures in which nothing moves do not make the machine look faster`() throws {
        let usual = try seats(after: 30, taking: 4)
        #expect(try seats(after: 30, of: VideoDimensions(width: 4096, height: 2304), taking: 10) == usual)
    }
}
