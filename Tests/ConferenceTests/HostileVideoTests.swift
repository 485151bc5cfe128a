import CongestionControl
import MediaCore
import MediaFixtures
import Testing
import VideoCoding

@testable import Conference
@testable import PeerConnection

/// Members whose video costs the relay much more than it costs them.
@Suite struct HostileVideoTests {
    @Test("a flood of large pictures of skipped macroblocks is refused beyond its budget, and another camera is not")
    func skippedPictures() throws {
        let call = VirtualCall { $0.decodeLimits = DecodeLimits(workers: 1) }
        var sent = 0
        let mallory = try call.join(
            "Mallory", rateLimits: RateLimits(minimum: .kilobits(100), start: .megabits(4), maximum: .megabits(8)))
        let ada = try call.join("Ada", colour: .red)
        let ben = try call.join("Ben", colour: .green)
        #expect(call.run(until: { ben.picture != nil }))
        var pictures = try SkippedPictures(dimensions: VideoDimensions(width: 4096, height: 2304))
        for _ in 0..<180 {
            mallory.peer.sendVideo(
                pictures.next(), captureTime: call.now, targetTime: call.now, now: call.now)
            sent += 1
            call.run(for: .milliseconds(16))
        }
        let snapshot = call.relay.snapshot(now: call.now)
        let room = try #require(snapshot.rooms.first)
        let flood = try #require(room.participants.first { $0.name == "Mallory" }).uplink
        #expect(flood.framesDecoded > 0)
        #expect(flood.framesRefused > 0)
        // A second's worth at once, and three seconds at 125.8 million samples a second.
        #expect(flood.framesDecoded <= 4 * 13 + 1)
        let refused = snapshot.decoding.framesRefused.first { $0.reason == .memberRate }
        #expect(refused?.frames == flood.framesRefused)
        for client in [ada, ben] {
            let uplink = try #require(room.participants.first { $0.name == client.name }).uplink
            #expect(uplink.framesRefused == 0 && uplink.framesDropped == 0)
        }
        #expect(snapshot.decoding.memory > 0)
    }
}
