import Foundation
import Logging
import MediaCore
import RoomMediaFixtures
import Synchronization
import Testing

@testable import RoomMedia

/// The streams of a relay, one of which cannot go on.
@Suite struct StreamHubTests {
    @Test("a stream whose pictures cannot be written ends and tells so, and its room may be streamed again")
    func failing() async {
        var hub = StreamHub(
            settings: .init(frameRate: 30, bitRate: .kilobits(500)),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let (failures, failure) = AsyncStream.makeStream(of: Bool.self)
        hub.begin("o1", room: "demo", bitRate: nil) { failure.yield(true) }
        let stream = hub.streams["demo"]
        for index in 0..<5 {
            let picture = CompositeSamples.picture(index, dimensions: VideoDimensions(width: 0, height: 0))
            let isTaken = hub.record(picture).isTaken
            #expect(isTaken)
        }
        let hasFailed = await failures.first { _ in true }
        #expect(hasFailed == true)
        #expect(stream?.isEnded == true)
        let ended = hub.end(room: "demo")
        #expect(ended === stream)
        #expect(hub.stream(of: "demo") == nil)
    }

    @Test("a stream of one picture a second has the pictures' whole time, and no gaps")
    func slow() async throws {
        var hub = StreamHub(
            settings: .init(frameRate: 1, bitRate: .kilobits(500)),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        hub.begin("o1", room: "demo", bitRate: nil) {}
        for second in 0..<4 { _ = hub.record(CompositeSamples.picture(second * 30)) }
        let ended = hub.end(room: "demo")
        let stream = try #require(ended)
        for thread in hub.takeEnding() { await thread.waitUntilFinished(timeout: .seconds(60)) }
        let lines = try await stream.playlist().split(separator: "\n")
        #expect(lines.count { $0 == "#EXTINF:1.000000," } == 4)
        #expect(lines.contains("#EXT-X-PART-INF:PART-TARGET=1.010000") && !lines.contains("#EXT-X-DISCONTINUITY"))
    }

    @Test("the times of segments follow the system's clock when it is set")
    func clockThatIsSet() async throws {
        /// The system's clock at the monotonic clock's zero.
        final class Epoch: Sendable {
            let date = Mutex(Date(timeIntervalSince1970: 0))
        }
        let epoch = Epoch()
        var hub = StreamHub(
            settings: .init(frameRate: 30, bitRate: .kilobits(500)),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, epoch: { epoch.date.withLock { $0 } })
        hub.begin("o1", room: "demo", bitRate: nil) {}
        let stream = try #require(hub.streams["demo"])
        for index in 0..<45 { _ = hub.record(CompositeSamples.picture(index)) }
        _ = try await stream.playlist(segment: 1) { try? await Task.sleep(for: .seconds(60)) }
        epoch.date.withLock { $0 = Date(timeIntervalSince1970: 3600) }
        for index in 45..<120 { _ = hub.record(CompositeSamples.picture(index)) }
        _ = hub.end(room: "demo")
        for thread in hub.takeEnding() { await thread.waitUntilFinished(timeout: .seconds(60)) }
        let tag = "#EXT-X-PROGRAM-DATE-TIME:"
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        let dates = try await stream.playlist().split(separator: "\n").filter { $0.hasPrefix(tag) }.map {
            try Date(String($0.dropFirst(tag.count)), strategy: style)
        }
        let steps = zip(dates.dropFirst(), dates).map { $0.timeIntervalSince($1) }
        #expect(steps.count { (3600...3602).contains($0) } == 1)
        #expect(steps.count { $0 < 2 } == steps.count - 1)
    }

    @Test("the threads of streams that end, and of those that have just ended, can be waited for")
    func ending() async {
        var hub = StreamHub(
            settings: .init(frameRate: 30, bitRate: .kilobits(500)),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        hub.begin("o1", room: "demo", bitRate: nil) {}
        hub.begin("o2", room: "other", bitRate: nil) {}
        let streams = [hub.streams["demo"], hub.streams["other"]]
        _ = hub.end(room: "demo")
        hub.endAll()
        let threads = hub.takeEnding()
        #expect(threads.count == 2)
        for thread in threads { await thread.waitUntilFinished(timeout: .seconds(60)) }
        #expect(streams.allSatisfy { $0?.isEnded == true })
        let others = hub.takeEnding()
        #expect(others.isEmpty)
    }
}
