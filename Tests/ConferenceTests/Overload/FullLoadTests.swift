import MediaCore
import MediaFixtures
import RoomAPI
import Testing

@testable import Conference

/// Rooms whose encoders ask for more time than there is, with workers that take it on virtual time.
@Suite struct FullLoadTests {
    private static let tick = Duration.milliseconds(1000) / 30

    @Test(
        "encoders share what decoding and composing leave equally, and encode no picture that is older than four ticks",
        arguments: [3, 5, 6, 8])
    func equalShares(count: Int) throws {
        let call = VirtualCall {
            $0.frameRate = 30
            $0.canvas = VideoDimensions(width: 160, height: 90)
        }
        call.pool = ModelledPool(workers: 2)
        for index in 0..<count {
            let client = try call.join(
                "\(index)", colour: [.red, .green, .blue][index % 3], audio: nil, selfView: .never,
                dimensions: VideoDimensions(width: 64, height: 36))
            client.frameRate = 30
            call.run(for: .milliseconds(5))
        }
        call.run(for: .seconds(3))
        // Nearly twice the time that two workers have.
        let encode = Duration.milliseconds(120) / count
        call.jobDuration = { kind in
            switch kind {
            case .decode: .microseconds(400)
            case .compose: .milliseconds(4)
            case .encode: encode
            case .mix: .zero
            }
        }
        call.run(for: .seconds(1))
        let missedBefore = try #require(call.relay.snapshot(room: "demo", now: call.now)).missedTicks
        let before = call.clients.map(\.arrivals.count)
        var ages: [Duration] = []
        call.onEncoded = { ages.append(call.now - $0.captureTime) }
        call.run(for: .seconds(10))
        let frames = zip(call.clients, before).map { $0.arrivals.count - $1 }
        let (least, most) = (frames.min() ?? 0, frames.max() ?? 0)
        #expect(Double(most - least) <= 0.1 * Double(most), "\(frames)")
        // The rest of the workers' time is used.
        let possible = 2 * (1 - 0.06 - 0.006 * Double(count)) / encode.seconds / Double(count) * 10
        #expect(Double(least) > 0.85 * min(possible, 300), "\(frames), possible \(possible)")
        let missed = try #require(call.relay.snapshot(room: "demo", now: call.now)).missedTicks - missedBefore
        // A job is not interrupted: two encodes that take longer than a tick, begun together, keep composing waiting.
        withKnownIssue("66 ticks are missed if a picture takes 40 ms to encode", isIntermittent: true) {
            #expect(missed <= 3)
        } when: {
            encode > Self.tick
        }
        #expect(try #require(ages.max()) <= Self.tick * 4 + encode)
    }
}
