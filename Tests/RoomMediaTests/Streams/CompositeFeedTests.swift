import MediaCore
import RoomAPI
import RoomMediaFixtures
import Testing

@testable import RoomMedia

/// The losses of a stream whose thread does not keep up.
@Suite struct CompositeFeedTests {
    private let queue = RecordingQueue(limit: DataSize(bytes: 40_000), budget: RecordingQueue.Budget())

    private func item(_ index: Int, isAudio: Bool = false) -> RecordingItem {
        isAudio ? CompositeSamples.sound(index) : CompositeSamples.picture(index)
    }

    /// The numbers of the pictures that wait, and how many pieces of sound.
    private func drain() -> (pictures: [Int], sounds: Int) {
        var (pictures, sounds) = ([Int](), 0)
        var last: RecordingQueue.Item?
        while let next = queue.next(after: last) {
            last = next
            guard case .media(let item) = next else { continue }
            switch item.content {
            case .video(let sample, _): pictures.append(Int(sample.presentationTime.value / 3000))
            case .audio: sounds += 1
            case .trackEnded, .anchored: break
            }
        }
        return (pictures, sounds)
    }

    @Test(
        "while the thread stands, whole groups of pictures are lost, and one keyframe is asked for when there is room")
    func stalled() {
        var feed = CompositeFeed(room: "demo", queue: queue, news: TimedSemaphore())
        var asked = (0..<65).filter { feed.record(item($0)) }
        #expect(asked.isEmpty)
        let first = drain().pictures
        #expect(first == Array(0..<first.count) && first.count < 30)
        asked = (65..<70).filter { feed.record(item($0)) }
        // Sound alone is of no use before the keyframe.
        #expect(feed.record(item(69, isAudio: true)) == false)
        #expect(asked == [65])
        for index in 70..<75 { #expect(feed.record(item(index)) == false) }
        _ = feed.record(item(74, isAudio: true))
        #expect(drain() == (Array(70..<75), 1))
        #expect(feed.losses == 1)
    }

    @Test("the memory of a stream that stands has a bound")
    func bounded() {
        var feed = CompositeFeed(room: "demo", queue: queue, news: TimedSemaphore())
        for index in 0..<10_000 { _ = feed.record(item(index, isAudio: index.isMultiple(of: 3))) }
        let waiting = drain()
        #expect(waiting.pictures.count + waiting.sounds < 30)
    }
}
