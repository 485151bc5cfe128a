import MediaCore
import MediaFixtures
import PeerConnection
import RoomAPI
import Testing

@testable import Conference

/// Ticks that come just after the picture that people look at.
@Suite struct PhaseLockTests {
    private let speaker = SourceID.camera(ParticipantID(rawValue: 1))

    @Test("moments at the same place of each interval are followed, to just after them", arguments: [15, 25, 30])
    func steady(frequency: Int) throws {
        var lock = PhaseLock()
        lock.follow(speaker, frequency: frequency)
        let interval = Duration.nanoseconds(1_000_000_000 / Int64(frequency))
        let first = MonotonicInstant(nanoseconds: 7_011_000_000)
        for index in 0..<20 { lock.observe(first + interval * index) }
        let error = try #require(lock.error(of: first))
        #expect(error > .zero && error < .milliseconds(2))
        let early = try #require(lock.error(of: first - .milliseconds(5)))
        #expect(abs((early - error).milliseconds - 5) < 0.1)
    }

    @Test("the more the moments scatter, the later ticks come; where they have no place at all, ticks stay")
    func scatter() throws {
        func error(of scatter: Duration) -> Duration? {
            var lock = PhaseLock()
            lock.follow(speaker, frequency: 30)
            var random = SeededGenerator(seed: 5)
            let interval = Duration.nanoseconds(33_333_333)
            for index in 0..<200 {
                let moment = MonotonicInstant.zero + interval * index
                lock.observe(moment + scatter * Double.random(in: 0..<1, using: &random) - scatter / 2)
            }
            return lock.error(of: .zero)
        }
        let (little, more) = (try #require(error(of: .milliseconds(4))), try #require(error(of: .milliseconds(12))))
        #expect(little < more)
        #expect(more < .milliseconds(12))
        #expect(error(of: .milliseconds(66)) == nil)
    }

    @Test("a camera of another frame rate leaves ticks where they are")
    func otherFrameRate() {
        var lock = PhaseLock()
        lock.follow(speaker, frequency: 30)
        for index in 0..<100 { lock.observe(.zero + .milliseconds(40) * index) }
        #expect(lock.error(of: .zero) == nil)
    }

    @Test(
        "the speaker's pictures wait little for their tick, whatever their phase; ticks never jump",
        arguments: [1, 6, 11, 17, 22, 28, 33])
    func speakersPictures(milliseconds: Int) throws {
        let call = VirtualCall { $0.frameRate = 30 }
        var clients: [TestClient] = []
        for (index, name) in ["Ada", "Ben", "Cy"].enumerated() {
            call.run(for: .milliseconds(index == 0 ? milliseconds : 7))
            let client = try call.join(name, colour: [.red, .green, .blue][index])
            client.frameRate = 30
            client.isSilent = index != 1
            clients.append(client)
        }
        call.run(for: .seconds(8))
        let speaker = try #require(call.relay.rooms["demo"]?.activeSpeaker)
        #expect(speaker.publicID == clients[1].participantID)
        var waits: [Double] = []
        var ticks: [MonotonicInstant] = []
        var lastNumber: UInt64 = 0
        call.onComposed = { tick in
            ticks.append(tick.captureTime)
            for frame in tick.frames where frame.source == .camera(speaker.id) && frame.number != lastNumber {
                lastNumber = frame.number
                waits.append((tick.captureTime - frame.decoded).milliseconds)
            }
        }
        call.run(for: .seconds(5))
        waits.sort()
        #expect(waits.count > 130)
        // Without a phase of their own they wait for any time up to 33 ms, the same for all of them.
        #expect(waits[waits.count / 2] < 3)
        #expect(waits[waits.count * 95 / 100] < 5)
        for (earlier, later) in zip(ticks, ticks.dropFirst()) {
            #expect(abs((later - earlier).milliseconds - 1000 / 30) <= 0.51)
        }
    }
}
