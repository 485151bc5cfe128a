import Foundation
import RoomAPI
import Synchronization
import Testing

@testable import Conference
@testable import RelayServer

@Suite("The event log")
struct EventLogTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "events-\(UUID().uuidString)")

    private func events(_ name: String) -> [RelayEvent] {
        let text = (try? String(contentsOf: folder.appending(path: name), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap {
            try? JSONDecoder().decode(RelayEvent.self, from: Data($0.utf8))
        }
    }

    @Test("has what happened when the server has ended, in the file of its name after each rotation")
    func rotation() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = RelayServerConfiguration()
        configuration.eventLog = folder.appending(path: "events.ndjson").path
        let script = TwinRelay.Script()
        func join(_ id: String) {
            script.state.withLock {
                $0.notices.append(
                    .joined(.init(room: "demo", id: id, name: id, role: .publish, address: nil)))
            }
        }
        try await RunningServer.run(configuration, script: script) { running in
            join("ada")
            _ = try await running.join()
            // What was told before is written before the file is opened anew.
            try FileManager.default.moveItem(
                at: folder.appending(path: "events.ndjson"), to: folder.appending(path: "events.ndjson.1"))
            await running.server.reloadFiles()
            join("ben")
            script.state.withLock { $0.joinOutcome = .failure(.roomFull(limit: 2)) }
            _ = try await running.join()
        }
        #expect(events("events.ndjson.1").map(\.type) == [.roomStarted, .participantJoined])
        // Which of the two comes first is the twin's affair.
        #expect(Set(events("events.ndjson").map(\.type)) == [.participantJoined, .joinRefused])
    }

    @Test("that cannot be written to is told at the start")
    func unusable() async {
        var configuration = RelayServerConfiguration()
        configuration.eventLog = "/nowhere/events.ndjson"
        await #expect(throws: StartupError.self) { try await RunningServer.run(configuration) { _ in } }
    }
}
