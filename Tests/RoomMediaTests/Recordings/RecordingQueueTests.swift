import MediaCore
import NIOCore
import RoomAPI
import Synchronization
import Testing

@testable import RoomMedia

/// The queue for a disk that does not answer.
@Suite struct RecordingQueueTests {
    /// The items that the queue hands out, and the number of overflows that it has told of.
    private func handedOut(
        _ use: (RecordingQueue) -> Void
    ) -> (events: [RecordingTimelineEntry.Event], end: RecordingEndReason?, overflows: Int) {
        final class Count: Sendable {
            let value = Mutex(0)
        }
        let count = Count()
        let queue = RecordingQueue(
            limitOfEvents: DataSize(bytes: 4096), budget: RecordingQueue.Budget(),
            onOverflow: { count.value.withLock { $0 += 1 } })
        use(queue)
        var events: [RecordingTimelineEntry.Event] = []
        var end: RecordingEndReason?
        var item: RecordingQueue.Item?
        while let next = queue.next(after: item) {
            switch next {
            case .event(let event, _): events.append(event)
            case .end(let reason, _): end = reason
            case .media: break
            }
            item = next
        }
        return (events, end, count.value.withLock { $0 })
    }

    @Test("a recording ends when too much of what happens waits to be written, and nothing before is lost")
    func overflow() {
        let found = handedOut { queue in
            for index in 0..<100 { queue.append(.left(participant: "p\(index)"), at: .seconds(index)) }
            queue.end(.stopped, at: .seconds(100))
        }
        #expect(found.events == (0..<4).map { .left(participant: "p\($0)") })
        #expect(found.end == .failed && found.overflows == 1)
    }

    @Test("what is written in time makes room for what happens next")
    func room() {
        let found = handedOut { queue in
            var item: RecordingQueue.Item?
            for index in 0..<100 {
                queue.append(.left(participant: "p\(index)"), at: .seconds(index))
                item = queue.next(after: item)
            }
            _ = queue.next(after: item)
            queue.append(.speaker(participant: nil), at: .seconds(100))
        }
        #expect(found.events == [.speaker(participant: nil)] && found.end == nil && found.overflows == 0)
    }

    @Test("a participant that sends much takes half of the room, and others still have theirs")
    func shares() {
        let queue = RecordingQueue(limit: DataSize(bytes: 100 * 2048), budget: RecordingQueue.Budget())
        func offer(of participant: String?) -> Bool {
            let content = RecordingItem.Content.audio(
                BlockBuffer(ByteBuffer(bytes: [0])), time: .zero, duration: MediaTime(value: 960, timescale: 48_000))
            let track = participant.map { RecordingTrack(participant: $0, content: .audio) } ?? .mix
            return queue.offer(RecordingItem(recording: "r1", track: track, at: .zero, content: content))
        }
        func taken(of participant: String?) -> Int { (0..<200).prefix { _ in offer(of: participant) }.count }
        #expect(taken(of: "mallory") == 50)
        #expect(taken(of: "ada") == 25)
        // A written item makes room for its participant again. The mix may take all the room that is left.
        var item = queue.next(after: nil)
        for _ in 0..<50 { item = queue.next(after: item) }
        #expect(taken(of: "mallory") > 20)
        #expect(taken(of: nil) > 10)
    }
}
