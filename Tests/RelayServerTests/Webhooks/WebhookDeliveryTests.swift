import Foundation
import Logging
import MediaCore
import RoomAPI
import Synchronization
import Testing

@testable import RelayServer

/// Webhooks on virtual time.
@Suite("Deliveries to webhooks")
struct WebhookDeliveryTests {
    private static let start = Date(timeIntervalSince1970: 1_700_000_000)

    /// A clock that only sleepers move, and a receiver that notes what it took and when.
    private final class World: WebhookTransport, Sendable {
        struct State {
            var elapsed = 0.0
            /// By how much the system's clock was set ahead.
            var step = 0.0
            var taken: [RelayEvent] = []
            var requests = 0
            /// The answers to events of these ids, whenever they come.
            var refusals: [String: Int] = [:]
            /// Called whenever time has passed.
            var onTime: (@Sendable (Double) async -> Void)?
        }

        let state = Mutex(State())
        let answer: @Sendable (_ elapsed: Double, _ request: Int) throws -> Int

        init(answer: @escaping @Sendable (_ elapsed: Double, _ request: Int) throws -> Int) { self.answer = answer }

        var clock: WebhookClock {
            WebhookClock(
                now: { [self] in start + state.withLock { $0.elapsed + $0.step } },
                uptime: { [self] in MonotonicInstant.zero + .seconds(state.withLock { $0.elapsed }) },
                sleep: { [self] duration in
                    let (elapsed, onTime) = state.withLock { state in
                        state.elapsed += duration.seconds
                        return (state.elapsed, state.onTime)
                    }
                    await onTime?(elapsed)
                    try Task.checkCancellation()
                })
        }

        func post(_ body: [UInt8], to url: String, fields: [(name: String, value: String)]) async throws -> Int {
            let event = try JSONDecoder().decode(RelayEvent.self, from: Data(body))
            #expect(fields.contains { $0 == ("webhook-id", event.id) })
            let (elapsed, request, refusal) = state.withLock { state in
                state.requests += 1
                return (state.elapsed, state.requests, state.refusals[event.id])
            }
            let status = try refusal ?? answer(elapsed, request)
            if (200..<300).contains(status) { state.withLock { $0.taken.append(event) } }
            return status
        }

        var taken: [RelayEvent] { state.withLock { $0.taken } }
    }

    private struct Lost: Error {}

    private let folder = FileManager.default.temporaryDirectory.appending(path: "webhooks-\(UUID().uuidString)")

    private func delivery(
        _ world: World, url: String = "http://receiver.example/", log lines: LogLines = LogLines()
    ) throws -> WebhookDelivery {
        WebhookDelivery(
            endpoint: try WebhookEndpoint(parsing: url), queue: try WebhookQueue(folder: folder, fileLimit: 2000),
            signer: try WebhookSigner(parsing: "test 0123456789abcdef"), transport: world, clock: world.clock,
            logger: Logger(label: "test") { _ in LogCollector(lines: lines) })
    }

    private func event(_ number: Int, room: String?, after seconds: Double = 0) -> RelayEvent {
        RelayEvent(
            id: "e-\(number)", type: .participantJoined, time: (Self.start + seconds).formatted(EventTime.style),
            room: room)
    }

    private func append(_ event: RelayEvent, to delivery: WebhookDelivery) async throws {
        await delivery.append(event, line: try JSONEncoder().encode(event))
    }

    private func numbers(_ events: [RelayEvent], room: String) -> [Int] {
        events.filter { $0.room == room }.compactMap { Int($0.id.dropFirst(2)) }
    }

    @Test("a receiver that is down for ten minutes gets every event, a room's in order, those of meanwhile included")
    func outage() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let world = World { elapsed, _ in
            if elapsed < 300 { throw Lost() }
            return elapsed < 600 ? 503 : 204
        }
        let delivery = try delivery(world)
        let rooms = ["a", "b", "c"]
        for number in 0..<120 { try await append(event(number, room: rooms[number % 3]), to: delivery) }
        // One event every two seconds, as time passes. Three rooms' deliveries sleep at once: each sleeper adds its
        // events after those of the sleeper before it, or they would be out of order in the queue.
        let more = Mutex(120)
        let lastTurn = Mutex(Task<Void, Never> {})
        let addEvents: @Sendable (Double) async -> Void = { elapsed in
            while let number = more.withLock({ next -> Int? in
                guard next < 400, Double(next - 120) * 2 < elapsed else { return nil }
                defer { next += 1 }
                return next
            }) {
                try? await append(event(number, room: rooms[number % 3], after: elapsed), to: delivery)
            }
            if more.withLock({ $0 == 400 }) { await delivery.finish() }
        }
        world.state.withLock { state in
            state.onTime = { elapsed in
                let turn = lastTurn.withLock { last in
                    last = Task { [previous = last] in
                        await previous.value
                        await addEvents(elapsed)
                    }
                    return last
                }
                await turn.value
            }
        }
        await delivery.run()
        for (index, room) in rooms.enumerated() {
            #expect(numbers(world.taken, room: room) == Array(stride(from: index, to: 400, by: 3)))
        }
        #expect(delivery.counters.delivered == 400)
        #expect(delivery.counters.expired == 0 && delivery.counters.dropped == 0 && delivery.counters.waiting == 0)
        // Pauses grow: in ten minutes none of the three rooms is tried more than some fifteen times.
        #expect((3...50).contains(delivery.counters.failedRequests))
    }

    @Test("the log says once that the disk takes no events")
    func fullDisk() async throws {
        let lines = LogLines()
        let delivery = try delivery(World { _, _ in 200 }, log: lines)
        try FileManager.default.removeItem(at: folder)
        for number in 0..<3 { try await append(event(number, room: "a"), to: delivery) }
        #expect(delivery.counters.dropped == 3)
        #expect(lines.texts.withLock { $0.count } == 1)
    }

    @Test("the log says at most once a minute that a receiver fails, which takes each event at the second try")
    func flakyReceiver() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let lines = LogLines()
        let world = World { _, request in request.isMultiple(of: 2) ? 204 : 503 }
        let delivery = try delivery(world, log: lines)
        // The pauses are a second each, a fifth more or less: 160 s to 240 s.
        for number in 0..<200 { try await append(event(number, room: "a"), to: delivery) }
        await delivery.finish()
        await delivery.run()
        #expect(delivery.counters.delivered == 200 && delivery.counters.failedRequests == 200)
        let texts = lines.texts.withLock { $0 }
        #expect((3...4).contains(texts.count { $0.contains("takes no events") }))
        #expect(texts.count { $0.contains("takes events again") } == texts.count / 2)
    }

    @Test("events are given up after an hour, and later ones are delivered")
    func expiry() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let world = World { elapsed, _ in elapsed < 4000 ? 500 : 200 }
        let delivery = try delivery(world)
        try await append(event(0, room: "a"), to: delivery)
        try await append(event(1, room: "a", after: 1000), to: delivery)
        await delivery.finish()
        await delivery.run()
        #expect(delivery.counters.expired == 1)
        #expect(numbers(world.taken, room: "a") == [1])
    }

    @Test("a clock that is set ahead makes no event old that waits, and an hour later it is given up all the same")
    func clockThatIsSet() async throws {
        for (outage, taken) in [(1000.0, [0, 1]), (4000.0, [1])] {
            defer { try? FileManager.default.removeItem(at: folder) }
            let world = World { elapsed, _ in elapsed < outage ? 500 : 200 }
            world.state.withLock { state in
                state.onTime = { elapsed in
                    if elapsed > 100 { world.state.withLock { $0.step = 86_400 } }
                }
            }
            let delivery = try delivery(world)
            try await append(event(0, room: "a"), to: delivery)
            try await append(event(1, room: "a", after: 86_400 + 1000), to: delivery)
            await delivery.finish()
            await delivery.run()
            #expect(numbers(world.taken, room: "a") == taken)
        }
    }

    @Test("events of before the clock was set back by a day are given up after an hour, too")
    func clockThatIsSetBack() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let world = World { elapsed, _ in elapsed < 4000 ? 500 : 200 }
        let delivery = try delivery(world)
        for number in 0..<3 { try await append(event(number, room: "a"), to: delivery) }
        world.state.withLock { $0.step = -86_400 }
        try await append(event(3, room: "a", after: 1000 - 86_400), to: delivery)
        await delivery.finish()
        await delivery.run()
        #expect(numbers(world.taken, room: "a") == [3])
        #expect(delivery.counters.expired == 3)
    }

    @Test("an event that is refused for good is given up at once, and holds up no other")
    func refusal() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let world = World { _, _ in 200 }
        world.state.withLock { $0.refusals = ["e-0": 400, "e-3": 413] }
        let delivery = try delivery(world)
        for number in 0..<6 { try await append(event(number, room: number < 3 ? "a" : "b"), to: delivery) }
        await delivery.finish()
        await delivery.run()
        #expect(numbers(world.taken, room: "a") == [1, 2] && numbers(world.taken, room: "b") == [4, 5])
        #expect(world.state.withLock { $0.elapsed == 0 && $0.requests == 6 })
        let counters = delivery.counters
        #expect(counters.delivered == 4 && counters.refused == 2 && counters.failedRequests == 2)
        #expect(counters.expired == 0 && counters.waiting == 0)
    }

    @Test("an answer that may change has the event sent again", arguments: [307, 401, 404, 408, 429, 500])
    func passingAnswer(status: Int) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let world = World { _, request in request == 1 ? status : 200 }
        let delivery = try delivery(world)
        try await append(event(0, room: "a"), to: delivery)
        await delivery.finish()
        await delivery.run()
        #expect(numbers(world.taken, room: "a") == [0])
        #expect(delivery.counters.failedRequests == 1 && delivery.counters.refused == 0)
    }

    @Test("an event whose answer was lost comes again, with the same id, before the next of its room")
    func lostAnswer() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let world = World { _, request in request == 2 ? 502 : 200 }
        let delivery = try delivery(world)
        for number in 0..<4 { try await append(event(number, room: "a"), to: delivery) }
        await delivery.finish()
        await delivery.run()
        #expect(numbers(world.taken, room: "a") == [0, 1, 2, 3])
        #expect(world.state.withLock { $0.requests } == 5)
    }

    @Test("what one run of the program did not deliver, the next does")
    func restart() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let down = World { _, request in request <= 70 ? 200 : 503 }
        let first = try delivery(down)
        for number in 0..<200 { try await append(event(number, room: "a"), to: first) }
        // After 75 requests time stands still until the program ends: an hour of attempts would give the event up.
        let (attempts, never) = (AsyncStream.makeStream(of: Void.self), AsyncStream.makeStream(of: Void.self))
        down.state.withLock { state in
            state.onTime = { [unowned down] _ in
                guard down.state.withLock({ $0.requests }) >= 75 else { return }
                attempts.continuation.finish()
                for await _ in never.stream {}
            }
        }
        let run = Task { await first.run() }
        for await _ in attempts.stream {}
        run.cancel()
        await run.value

        let up = World { _, _ in 200 }
        let second = try delivery(up)
        try await append(event(200, room: "a"), to: second)
        await second.finish()
        await second.run()
        let again = numbers(up.taken, room: "a")
        let first70 = numbers(down.taken, room: "a")
        #expect(first70 == Array(0..<70))
        #expect(again == Array((again.first ?? -1)...200), "in order, without a gap")
        #expect(again.first.map { $0 <= 70 } == true, "none is missing between the two")
    }

    @Test("a disk that does not keep what is delivered holds up no event, and none counts as lost")
    func forgetfulDisk() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let world = World { _, _ in 204 }
        let delivery = try delivery(world)
        // No file can take this folder's place.
        try FileManager.default.createDirectory(
            at: folder.appending(path: "position/full"), withIntermediateDirectories: true)
        for number in 0..<200 { try await append(event(number, room: "a"), to: delivery) }
        await delivery.finish()
        await delivery.run()
        #expect(numbers(world.taken, room: "a") == Array(0..<200))
        #expect(delivery.counters.delivered == 200 && delivery.counters.dropped == 0)
    }

    @Test("a queue that cannot be read for a while is read afterwards, and the log says so once")
    func unreadableQueue() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let lines = LogLines()
        let world = World { _, _ in 200 }
        let delivery = try delivery(world, log: lines)
        try await append(event(0, room: "a"), to: delivery)
        let (file, aside) = (folder.appending(path: "1.ndjson"), folder.appending(path: "aside"))
        let files = FileManager.default
        try files.moveItem(at: file, to: aside)
        try files.createDirectory(at: file, withIntermediateDirectories: false)
        world.state.withLock { state in
            state.onTime = { elapsed in
                guard elapsed > 100, files.fileExists(atPath: aside.path) else { return }
                try? files.removeItem(at: file)
                try? files.moveItem(at: aside, to: file)
            }
        }
        await delivery.finish()
        await delivery.run()
        #expect(numbers(world.taken, room: "a") == [0])
        #expect(delivery.counters.dropped == 0)
        #expect(lines.texts.withLock { $0.count } == 1)
    }

    @Test("an endpoint gets what its filter chooses")
    func filter() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let world = World { _, _ in 200 }
        let delivery = try delivery(world, url: "http://receiver.example/#rooms=demo,sales-*")
        for (number, room) in ["demo", "demo2", "sales-1", nil].enumerated() {
            try await append(event(number, room: room), to: delivery)
        }
        await delivery.finish()
        await delivery.run()
        #expect(Set(world.taken.map(\.id)) == ["e-0", "e-2"])
    }
}
