import MediaCore
import MediaFixtures
import PeerConnection
import RoomAPI
import SDP
import SecureTransport
import Testing

@testable import Conference

/// Rooms in which nothing changes.
@Suite struct RoomPauseTests {
    private let call = VirtualCall { $0.frameRate = 30 }

    /// The number of ticks that are composed in a time.
    private func ticks(in time: Duration) -> Int {
        var count = 0
        call.onComposed = { _ in count += 1 }
        call.run(for: time)
        call.onComposed = nil
        return count
    }

    private func joinWithoutMedia(_ name: String) throws -> TestClient {
        let client = try call.join(name, colour: nil)
        client.isSendingVideo = false
        return client
    }

    private func packets(to client: TestClient, in time: Duration) -> Int {
        let before = client.audioPackets.count
        call.run(for: time)
        return client.audioPackets.count - before
    }

    @Test("a picture that does not change is composed and sent five times a second, then once, and no more")
    func still() throws {
        let ada = try joinWithoutMedia("Ada")
        _ = try joinWithoutMedia("Ben")
        call.run(for: .seconds(2))
        let early = ada.arrivals.count
        #expect((5...6).contains(ticks(in: .seconds(1))))
        #expect((5...6).contains(ada.arrivals.count - early))
        call.run(for: .seconds(5))
        let frames = ada.arrivals.count
        #expect((9...11).contains(ticks(in: .seconds(10))))
        #expect((9...11).contains(ada.arrivals.count - frames))
        #expect(ada.decodeFailures == 0)
    }

    @Test("a receiver that cannot ask for keyframes gets an unchanged picture five times a second")
    func silentReceiver() throws {
        let ada = try call.join("Ada", colour: nil) {
            $0.video?.feedback.pli = false
            $0.video?.feedback.fir = false
        }
        ada.isSendingVideo = false
        call.run(for: .seconds(8))
        let frames = ada.arrivals.count
        #expect((19...25).contains(ticks(in: .seconds(4))))
        #expect((19...25).contains(ada.arrivals.count - frames))
    }

    @Test("a frame of a source that differs is seen as soon as in a room whose ticks are not paused")
    func news() throws {
        let ada = try call.join("Ada", colour: nil)
        let ben = try call.join("Ben", colour: .green)
        ben.isSendingVideo = false
        call.run(for: .seconds(8))
        #expect(ticks(in: .seconds(1)) <= 6)
        ben.isSendingVideo = true
        let begin = call.now
        let isSeen = call.run(until: {
            let picture = ada.picture
            return picture?.colour(x: 160, y: 60).resembles(.green) == true
        })
        #expect(isSeen)
        // A frame of the sender's, the links, a tick; and while it changes each tick is composed.
        #expect(call.now - begin < .milliseconds(200))
        #expect((14...31).contains(ticks(in: .seconds(1))))
    }

    @Test("who comes into a room whose ticks are paused sees it as soon as the first one did")
    func joiner() throws {
        let ada = try joinWithoutMedia("Ada")
        let isFirstServed = call.run(until: { ada.picture != nil })
        let first = call.now
        #expect(isFirstServed)
        call.run(for: .seconds(8))
        #expect(ticks(in: .seconds(1)) <= 6)
        let begin = call.now
        let ben = try joinWithoutMedia("Ben")
        let isServed = call.run(until: { ben.picture != nil })
        #expect(isServed)
        #expect(call.now - begin <= first - MonotonicInstant(nanoseconds: 1_000_000_000) + .milliseconds(70))
    }

    @Test("a receiver that asks for a keyframe gets it at once")
    func keyframe() throws {
        let ada = try joinWithoutMedia("Ada")
        call.run(for: .seconds(10))
        let before = ada.keyframesReceived
        let begin = call.now
        ada.peer.requestKeyframe(.main, now: call.now)
        let isAnswered = call.run(until: { ada.keyframesReceived > before })
        #expect(isAnswered)
        #expect(call.now - begin < .milliseconds(120))
    }

    @Test("a layout that changes is looked at by the next tick")
    func layout() throws {
        _ = try joinWithoutMedia("Ada")
        let ben = try joinWithoutMedia("Ben")
        call.run(for: .seconds(8))
        #expect(ticks(in: .seconds(1)) <= 6)
        let command = RoomCommand.setLayout(RoomLayout(.pinned(participant: ben.participantID)))
        try call.relay.perform(command, room: "demo", now: call.now)
        var first: MonotonicInstant?
        let begin = call.now
        call.onComposed = { tick in if first == nil { first = tick.captureTime } }
        call.run(for: .milliseconds(200))
        #expect(try #require(first) - begin <= .milliseconds(34))
    }

    @Test("a camera before which nothing moves costs no more than a placeholder, though its frames come")
    func staticCamera() throws {
        let ada = try call.join("Ada", colour: .red)
        let ben = try call.join("Ben", colour: .green)
        for client in [ada, ben] {
            client.pictures = [
                .pattern(client.colour ?? .red, dimensions: client.dimensions, phase: 0)
            ]
        }
        call.run(for: .seconds(15))
        let frames = ada.arrivals.count
        // A camera's encoder may still change a little now and then.
        #expect((3...50).contains(ticks(in: .seconds(4))))
        #expect((3...50).contains(ada.arrivals.count - frames))
        #expect(try #require(ada.picture).share(of: .green) > 0.1)
        // It is there: its picture does not grow stale.
        let snapshot = try #require(call.relay.snapshot(room: "demo", now: call.now))
        #expect(snapshot.participants.count == 2)
    }

    @Test("where nobody sends audio, a packet of silence comes each 400 ms; and the first voice is heard at once")
    func silence() throws {
        let ada = try call.join("Ada", video: nil)
        let ben = try call.join("Ben", video: nil, audio: .receiveOnly)
        call.run(for: .seconds(2))
        #expect(packets(to: ben, in: .seconds(2)) >= 90)
        call.drops = { _, isDownlink, client in !isDownlink && client === ada }
        call.run(for: .seconds(4))
        #expect((9...11).contains(packets(to: ben, in: .seconds(4))))
        call.drops = { _, _, _ in false }
        let before = ben.audioPackets.count
        call.run(for: .milliseconds(500))
        #expect(ben.audioPackets.count - before >= 20)
        // The stream's time goes on, as its receiver's clock does.
        let times = ben.audioPackets.map(\.rtpTimestamp)
        let elapsed = try Int64(#require(times.last) &- #require(times.first))
        let arrivals = try #require(ben.audioPackets.last?.arrival) - #require(ben.audioPackets.first?.arrival)
        #expect(abs(Double(elapsed) / 48_000 - arrivals.seconds) < 0.1)
    }
}
