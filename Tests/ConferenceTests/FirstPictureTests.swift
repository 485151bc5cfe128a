import MediaCore
import MediaFixtures
import RoomAPI
import Testing

@testable import Conference

/// When a client with keys in its offer is sent its first picture.
@Suite struct FirstPictureTests {
    private let call = VirtualCall { $0.frameRate = 30 }

    /// A room in which others have been for long, and a client that is not heard.
    private func joinUnheard() throws -> TestClient {
        _ = try call.join("Ada", colour: .red, selfView: .always)
        _ = try call.join("Ben", colour: .green, selfView: .always)
        call.run(for: .seconds(3))
        call.drops = { _, isDownlink, client in !isDownlink && client.name == "Cy" }
        return try call.join("Cy", colour: .blue, selfView: .always)
    }

    @Test("a keyframe waits for the client's first packet, and follows it at once")
    func heard() throws {
        let client = try joinUnheard()
        call.run(for: .milliseconds(200))
        #expect(client.arrivals.isEmpty)
        call.drops = { _, _, _ in false }
        let begin = call.now
        let isServed = call.run(until: { client.picture != nil }, limit: .seconds(1))
        #expect(isServed)
        // A frame's or an audio packet's time, both links and two ticks.
        #expect(call.now - begin < .milliseconds(125))
        #expect(client.keyframesReceived == 1)
    }

    @Test("a client that says nothing is sent pictures all the same, a little later")
    func silent() throws {
        let client = try joinUnheard()
        let isServed = call.run(until: { client.picture != nil }, limit: .seconds(2))
        #expect(isServed)
    }
}
