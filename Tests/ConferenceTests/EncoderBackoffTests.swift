import EncoderSharing
import MediaCore
import MediaFixtures
import Synchronization
import Testing
import VideoCoding

@testable import Conference

/// Encoders that cannot be made, or do not encode.
@Suite struct EncoderBackoffTests {
    private func instant(_ seconds: Double) -> MonotonicInstant { .zero + .seconds(100 + seconds) }

    @Test func `an encoder is tried again later with each failure, after half a minute at most`() {
        var backoff = EncoderBackoff()
        var delays: [Double] = []
        var time = 0.0
        for _ in 0..<10 {
            #expect(backoff.allowsTry(now: instant(time)))
            let delay = backoff.failed(now: instant(time)).seconds
            delays.append(delay)
            #expect(!backoff.allowsTry(now: instant(time + delay * 0.99)))
            time += delay
        }
        #expect(delays == [0.25, 0.5, 1, 2, 4, 8, 16, 30, 30, 30])
    }

    @Test func `an encoder that works for five seconds has recovered, and one that fails behind each frame has not`() {
        var backoff = EncoderBackoff()
        for second in 0..<4 {
            _ = backoff.failed(now: instant(Double(second)))
            backoff.succeeded(now: instant(Double(second) + 0.5))
        }
        #expect(backoff.failures == 4)
        backoff.succeeded(now: instant(8.4))
        #expect(backoff.failures == 4)
        backoff.succeeded(now: instant(8.5))
        #expect(backoff.failures == 0)
        #expect(backoff.failed(now: instant(16)) == .milliseconds(250))
    }

    /// Makes encoders, when it can.
    private final class Workshop: Sendable {
        let attempts = Atomic(0)
        let isBroken = Atomic(true)
    }

    @Test func `a room whose encoders cannot be made tries a few times, tells it, and goes on when they can be made`()
        throws
    {
        let workshop = Workshop()
        let call = VirtualCall { configuration in
            configuration.makeEncoder = { dimensions, properties throws(VideoCodingError) in
                workshop.attempts.add(1, ordering: .relaxed)
                guard !workshop.isBroken.load(ordering: .relaxed) else {
                    throw .codecUnavailable(reason: "no memory for an encoder")
                }
                return try SessionPictureEncoder(dimensions: dimensions, backEnd: .openH264, properties: properties)
            }
        }
        _ = try call.join("Ada", colour: .red)
        let ben = try call.join("Ben", colour: .green)
        call.run(for: .seconds(20))
        // Seven for each of two encoders; without a pause it would be 300.
        let attempts = workshop.attempts.load(ordering: .relaxed)
        #expect((2...16).contains(attempts))
        let failures = call.roomEvents().compactMap { event -> EncoderFailure? in
            if case .encoderFailed(let failure) = event { failure } else { nil }
        }
        #expect(failures.count == attempts)
        #expect(failures.last?.reason.contains("no memory for an encoder") ?? false)
        #expect(failures.first?.failures == 1 && failures.first?.retryAfter == 250)
        var alarms = 0
        while let event = call.relay.pollOverloadEvent() {
            if case .encoderFailed(_, room: "demo") = event { alarms += 1 }
        }
        #expect(alarms > 0 && alarms <= attempts)
        let room = try #require(call.relay.snapshot(now: call.now).rooms.first)
        #expect(room.encoding.failures == UInt64(attempts))
        workshop.isBroken.store(false, ordering: .relaxed)
        #expect(call.run(until: { ben.picture != nil }, limit: .seconds(20)))
    }
}
