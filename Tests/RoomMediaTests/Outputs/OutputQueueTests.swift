import MediaCore
import RoomMediaFixtures
import Testing

@testable import RoomMedia

/// The losses of an output that does not keep up.
@Suite struct OutputQueueTests {
    private let budget = RecordingQueue.Budget(limit: DataSize(bytes: 1 << 20))

    private func queue(bytes: Int = 1 << 20, duration: Duration = .seconds(3600)) -> OutputQueue {
        let queue = OutputQueue(
            limits: .init(size: DataSize(bytes: bytes), duration: duration, reserve: .zero), budget: budget)
        queue.open()
        return queue
    }

    /// The numbers of the pictures that wait, and how many pieces of sound.
    private func drain(_ queue: OutputQueue) -> (pictures: [Int], sounds: Int) {
        var (pictures, sounds) = ([Int](), 0)
        while case .sample(let item) = queue.next(upTo: .zero) {
            if let number = CompositeSamples.number(item) { pictures.append(number) } else { sounds += 1 }
        }
        return (pictures, sounds)
    }

    @Test("a connection begins with a keyframe, which is asked for once, and without sound before it")
    func beginning() {
        let queue = queue()
        let asked = (3..<15).filter { queue.offer(CompositeSamples.picture($0)) }
        #expect(asked == [3])
        #expect(drain(queue).pictures == Array(10..<15))
        queue.close()
        queue.open()
        #expect(queue.offer(CompositeSamples.sound(16)))
        #expect(!queue.offer(CompositeSamples.sound(17)))
        #expect(drain(queue) == ([], 0))
    }

    @Test("nothing waits, and nothing counts as lost, while there is no connection")
    func closed() {
        let queue = queue()
        for index in 0..<15 { _ = queue.offer(CompositeSamples.picture(index)) }
        queue.close()
        for index in 15..<40 { #expect(!queue.offer(CompositeSamples.picture(index))) }
        #expect(drain(queue) == ([], 0))
        #expect(queue.framesDropped == 15)
        #expect(queue.size == .zero)
    }

    @Test("what is late is lost up to the newest keyframe that waits, with its sound, and the rest can be decoded")
    func late() {
        // Half a second is fifteen pictures.
        let queue = queue(duration: .milliseconds(500))
        var asked: [Int] = []
        for index in 0..<38 {
            if queue.offer(CompositeSamples.picture(index)) { asked.append(index) }
            _ = queue.offer(CompositeSamples.sound(index))
        }
        let (pictures, sounds) = drain(queue)
        #expect(pictures == Array(30..<38) && sounds == 8)
        // The first request is that of the connection's beginning.
        #expect(asked.isEmpty)
        #expect(queue.framesDropped == 30)
    }

    @Test("a group of pictures that is too large for the queue is lost, and the next keyframe is asked for at once")
    func large() {
        // Each picture counts 3048 bytes: six of them fit.
        let queue = queue(bytes: 20_000)
        let asked = (0..<23).filter { queue.offer(CompositeSamples.picture($0)) }
        #expect(asked == [6, 16])
        #expect(drain(queue).pictures == [20, 21, 22])
        #expect(queue.framesDropped == 20)
    }

    @Test("the queues of all outputs together have a bound, and one that is full takes nothing from the others")
    func budgeted() {
        let shared = RecordingQueue.Budget(limit: DataSize(bytes: 40_000))
        let limits = OutputQueue.Limits(reserve: DataSize(bytes: 10_000))
        let stalled = OutputQueue(limits: limits, budget: shared)
        let good = OutputQueue(limits: limits, budget: shared)
        stalled.open()
        good.open()
        for index in 0..<200 {
            _ = stalled.offer(CompositeSamples.picture(index))
            _ = good.offer(CompositeSamples.picture(index))
            // The good one sends at once what it takes.
            _ = drain(good)
        }
        #expect(stalled.size.bytes <= 50_000)
        #expect(good.framesDropped == 0 && stalled.framesDropped > 150)
        stalled.close()
        #expect(shared.take(40_000))
    }

    @Test("however long a server stands, the memory has a bound, and each picture is sent or counted")
    func bounded() {
        let queue = queue(bytes: 50_000)
        var largest = 0
        for index in 0..<10_000 {
            _ = queue.offer(CompositeSamples.picture(index))
            _ = queue.offer(CompositeSamples.sound(index))
            largest = max(largest, queue.size.bytes)
        }
        #expect(largest <= 50_000)
        let dropped = queue.framesDropped
        #expect(drain(queue).pictures.count + dropped == 10_000)
        #expect(queue.size == .zero && budget.take(1 << 20))
    }

    @Test("what waits at the end is handed out, and nothing after it is taken")
    func end() {
        let queue = queue()
        for index in 0..<3 { _ = queue.offer(CompositeSamples.picture(index)) }
        queue.end()
        #expect(!queue.offer(CompositeSamples.picture(3)))
        #expect(drain(queue).pictures == [0, 1, 2])
        let began = ContinuousClock.now
        guard case .end = queue.next(upTo: .seconds(60)) else {
            Issue.record("the queue has not ended")
            return
        }
        queue.pause(.seconds(60))
        #expect(ContinuousClock.now - began < .seconds(60))
    }
}
