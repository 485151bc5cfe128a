import Dispatch
import Logging
import RoomAPI
import RoomMediaFixtures
import Testing

@testable import Conference
@testable import RelayServer
@testable import RoomMedia

/// The outputs of a relay, whose servers take everything.
@Suite struct OutputHubTests {
    private final class Sink: OutputSink {
        static let size: Int64 = 100
        private(set) var bytesWritten: Int64 = 0

        func write(_ item: RecordingItem) throws(OutputFailure) { bytesWritten += Self.size }

        func finish() {}
    }

    private func makeHub() -> OutputHub {
        OutputHub(
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            connector: { _ in { _, _ throws(OutputFailure) in Sink() } }, onNews: { _, _, _ in })
    }

    @Test("what outputs have sent stays counted, whenever their threads end")
    func counters() async throws {
        let server = try StreamServer(parsing: "rtmp://live.example.org/app/key")
        var picture = CompositeSamples.picture(0)
        // The threads end while they are looked at, in each round at other moments.
        for _ in 0..<20 {
            var hub = makeHub()
            let ids = (0..<OutputHub.maximumOutputs).map { "output-\($0)" }
            for id in ids { hub.begin(id, room: "demo", name: nil, target: server) }
            try await eventually {
                for id in ids {
                    picture.recording = id
                    _ = hub.record(picture)
                }
                return ids.allSatisfy { hub.description(of: $0, room: "demo")?.bytes ?? 0 > 0 }
            }
            var bytes = hub.counters.bytes
            for id in ids {
                hub.record(
                    RoomEvent(room: "demo", kind: .outputChanged(OutputStatus(id: id, name: nil, state: .ended))))
            }
            for _ in 0..<1000 {
                _ = hub.hasRoom()
                let sent = hub.counters.bytes
                try #require(sent >= bytes)
                bytes = sent
            }
            for thread in hub.takeEnding() { await thread.waitUntilFinished(timeout: .seconds(60)) }
        }
    }
}
