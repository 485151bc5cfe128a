import Dispatch
import Glibc
import MediaCore
import RoomAPI
import RoomMediaFixtures
import Synchronization
import Testing

@testable import RoomMedia

/// The life of an output: it connects, goes on after failures, and ends, with servers that a test plays.
@Suite struct OutputThreadTests {
    /// Servers that take what the script says, one connection after the other.
    private final class Script: Sendable {
        struct State {
            /// For each connection: how many samples it takes before it breaks; nil: all; -1: it is refused.
            var connections: [Int?] = []
            var turns: [Int] = []
            var pictures: [[Int]] = []
            var finished = 0
            var news: [OutputLifecycle.News] = []
            var isStuck = false
            var refusal = OutputFailure(reason: .refused)
        }

        let state = Mutex(State())

        func change(_ body: (inout sending State) -> Void) { state.withLock { body(&$0) } }

        /// Waits until a condition holds.
        func wait(
            sourceLocation: SourceLocation = #_sourceLocation, until condition: (borrowing State) -> Bool
        ) async throws {
            try await eventually(sourceLocation: sourceLocation) { state.withLock { condition($0) } }
        }

        func connect(_ turn: Int, _ isAbandoned: @escaping @Sendable () -> Bool) throws(OutputFailure) -> Sink {
            var refusal: OutputFailure?
            var samples: Int?
            change { state in
                state.turns.append(turn)
                samples = state.connections.isEmpty ? nil : state.connections.removeFirst()
                if samples == -1 { refusal = state.refusal } else { state.pictures.append([]) }
            }
            if let refusal { throw refusal }
            return Sink(self, samples: samples, isAbandoned: isAbandoned)
        }
    }

    private final class Sink: OutputSink {
        private let script: Script
        private let isAbandoned: @Sendable () -> Bool
        private var samples: Int?
        private(set) var bytesWritten: Int64 = 0

        init(_ script: Script, samples: Int?, isAbandoned: @escaping @Sendable () -> Bool) {
            self.script = script
            self.samples = samples
            self.isAbandoned = isAbandoned
        }

        func write(_ item: RecordingItem) throws(OutputFailure) {
            if script.state.withLock({ $0.isStuck }) {
                while !isAbandoned() {}
                throw OutputFailure(reason: .timedOut)
            }
            if let left = samples {
                guard left > 0 else { throw OutputFailure(reason: .connectionLost) }
                samples = left - 1
            }
            bytesWritten += 100
            script.change { state in
                guard let number = CompositeSamples.number(item) else { return }
                state.pictures[state.pictures.count - 1].append(number)
            }
        }

        func finish() { script.change { $0.finished += 1 } }
    }

    private let script = Script()

    private func start(writing: Duration = .seconds(60)) -> OutputThread {
        OutputThread(
            queue: OutputQueue(budget: RecordingQueue.Budget()),
            delays: ReconnectDelays(first: .milliseconds(1), longest: .milliseconds(4)),
            patience: .init(connecting: .seconds(60), writing: writing, ending: .seconds(60)),
            onNews: { [script] news in script.change { $0.news.append(news) } },
            connect: { [script] turn, isAbandoned throws(OutputFailure) in try script.connect(turn, isAbandoned) })
    }

    /// Offers pictures, beginning with this number, until a condition holds. It leaves its thread to no other test
    /// between two pictures: they could come a minute apart.
    private func feed(
        _ thread: OutputThread, from first: Int, until condition: (borrowing Script.State) -> Bool
    ) throws -> Int {
        var index = first
        let limit = ContinuousClock.now + .seconds(120)
        while !script.state.withLock({ condition($0) }) {
            try #require(ContinuousClock.now < limit)
            _ = thread.queue.offer(CompositeSamples.picture(index))
            index += 1
            sched_yield()
        }
        return index
    }

    @Test("each connection begins with a keyframe, and a broken one is followed by the next")
    func reconnects() async throws {
        script.change { $0.connections = [-1, -1, 13, 7, nil] }
        let thread = start()
        _ = try feed(thread, from: 3) { $0.pictures.count == 3 && $0.pictures[2].count > 20 }
        thread.end(.stopped)
        try await script.wait { $0.finished == 1 }
        let (pictures, turns, news) = script.state.withLock { ($0.pictures, $0.turns, $0.news) }
        #expect(pictures.allSatisfy { $0.first?.isMultiple(of: 10) == true })
        #expect(pictures.prefix(2).map(\.count) == [13, 7])
        #expect(turns == [0, 1, 2, 3, 4])
        #expect(news.map(\.state) == [.waiting, .live, .waiting, .live, .waiting, .live])
        #expect(news.compactMap(\.reason) == [.refused, .connectionLost, .connectionLost])
        #expect(thread.reconnects == 2 && thread.bytes == Int64(100 * pictures.reduce(0) { $0 + $1.count }))
        #expect(thread.state == .ended)
    }

    @Test("a server that takes nothing is abandoned in time, and the next connection is tried")
    func stuck() async throws {
        let thread = start(writing: .milliseconds(20))
        var next = try feed(thread, from: 0) { !$0.pictures.isEmpty && $0.pictures[0].count > 5 }
        script.change { $0.isStuck = true }
        next = try feed(thread, from: next) { $0.news.contains { $0.reason == .timedOut } }
        script.change { $0.isStuck = false }
        _ = try feed(thread, from: next) { $0.pictures.count > 1 && $0.pictures.last?.isEmpty == false }
        thread.end(.stopped)
        try await script.wait { $0.finished == 1 }
    }

    @Test("a host that is not permitted ends the output, without another try")
    func notPermitted() async throws {
        script.change { state in
            state.connections = [-1]
            state.refusal = OutputFailure(reason: .notPermitted)
        }
        let thread = start()
        try await script.wait { !$0.news.isEmpty }
        await thread.waitUntilFinished(timeout: .seconds(60))
        #expect(thread.isFinished && thread.state == .ended)
        let (news, turns) = script.state.withLock { ($0.news, $0.turns) }
        #expect(news == [.init(state: .ended, reason: .notPermitted)] && turns == [0])
    }

    @Test("an output that waits, or is stuck in its server, ends at once when it is told to")
    func ends() async throws {
        script.change { $0.connections = Array(repeating: -1, count: 1000) }
        let thread = OutputThread(
            queue: OutputQueue(budget: RecordingQueue.Budget()),
            onNews: { [script] news in script.change { $0.news.append(news) } },
            connect: { [script] turn, isAbandoned throws(OutputFailure) in try script.connect(turn, isAbandoned) })
        try await script.wait { !$0.news.isEmpty }
        thread.end(.roomClosed)
        await thread.waitUntilFinished(timeout: .seconds(60))
        #expect(thread.isFinished)
        script.change { state in
            state.connections = []
            state.isStuck = true
        }
        let stuck = OutputThread(
            queue: OutputQueue(budget: RecordingQueue.Budget()),
            patience: .init(connecting: .seconds(600), writing: .seconds(600), ending: .zero), onNews: { _ in },
            connect: { [script] turn, isAbandoned throws(OutputFailure) in try script.connect(turn, isAbandoned) })
        _ = try feed(stuck, from: 0) { $0.turns.count > 1 && !$0.pictures.isEmpty }
        for index in 0..<11 { _ = stuck.queue.offer(CompositeSamples.picture(index)) }
        stuck.end(.stopped)
        await stuck.waitUntilFinished(timeout: .seconds(60))
        #expect(stuck.isFinished)
    }
}
