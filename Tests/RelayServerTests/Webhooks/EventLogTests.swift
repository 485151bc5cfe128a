import Foundation
import Glibc
import Logging
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
            // Events from before are written before the file is opened anew.
            try FileManager.default.moveItem(
                at: folder.appending(path: "events.ndjson"), to: folder.appending(path: "events.ndjson.1"))
            await running.server.reloadFiles()
            join("ben")
            script.state.withLock { $0.joinOutcome = .failure(.roomFull(limit: 2)) }
            _ = try await running.join()
        }
        #expect(events("events.ndjson.1").map(\.type) == [.roomStarted, .participantJoined])
        // The order of the two is the twin's affair.
        #expect(Set(events("events.ndjson").map(\.type)) == [.participantJoined, .joinRefused])
    }

    @Test("tells of requests that were refused, with the route and the client's address")
    func refusedRequests() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = RelayServerConfiguration()
        configuration.eventLog = folder.appending(path: "events.ndjson").path
        try await RunningServer.run(configuration) { running in
            let answer = try await running.exchange(
                "DELETE /rooms/demo HTTP/1.1\r\nHost: relay\r\nConnection: close\r\n"
                    + "Authorization: Bearer mk-secret\r\n\r\n")
            #expect(answer.contains(" 401 "))
        }
        let event = try #require(events("events.ndjson").first)
        #expect(event.type == .requestRefused && event.room == "demo")
        #expect(event.request == .init(method: "DELETE", path: "/rooms/:room", status: 401, address: "127.0.0.1"))
    }

    @Test("goes on with a line of its own after one that could be written only in part")
    func tornLine() throws {
        // A full pipe takes only a part of a write.
        let pipe = Pipe()
        let writer = pipe.fileHandleForWriting
        try #require(fcntl(writer.fileDescriptor, F_SETFL, O_NONBLOCK) == 0)
        var log = try EventLog(path: "/dev/null", logger: Logger(label: "test"))
        log.file = writer
        log.append(Data(repeating: 0x61, count: 2_000_000))
        log.append(Data("lost".utf8))
        var part = [UInt8](repeating: 0, count: 2_000_000)
        let count = read(pipe.fileHandleForReading.fileDescriptor, &part, part.count)
        try #require(count > 0 && count < part.count)
        #expect(part.prefix(count).allSatisfy { $0 == 0x61 })
        log.append(Data("first".utf8))
        log.append(Data("second".utf8))
        try writer.close()
        let rest = try #require(try pipe.fileHandleForReading.readToEnd())
        #expect(String(decoding: rest, as: UTF8.self) == "\nfirst\nsecond\n")
    }

    @Test("that takes nothing for a while does not keep the relay from ending", .timeLimit(.minutes(5)))
    func stuckFile() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = RelayServerConfiguration()
        let path = folder.appending(path: "events.fifo").path
        configuration.eventLog = path
        try #require(mkfifo(path, 0o600) == 0)
        // A pipe that is open for both waits for no other side.
        let pipe = open(path, O_RDWR)
        defer { close(pipe) }
        let outputs = try #require(try EventOutputs.open(configuration, logger: Logger(label: "test")))
        outputs.start()
        // More than a pipe holds.
        let told = 2000
        for number in 0..<told {
            outputs.record(
                RelayEvent(
                    id: "\(number)", type: .roomStarted, time: "2026-01-01T00:00:00.000Z",
                    room: String(repeating: "a", count: 200)))
        }
        await outputs.close(diskPatience: .milliseconds(50))
        // All is written once somebody reads.
        var written = 0
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while written < told {
            let size = read(pipe, &bytes, bytes.count)
            try #require(size > 0)
            written += bytes.prefix(size).count { $0 == 0x0A }
        }
    }

    @Test("that cannot be written to is told at the start")
    func unusable() async {
        var configuration = RelayServerConfiguration()
        configuration.eventLog = "/nowhere/events.ndjson"
        await #expect(throws: StartupError.self) { try await RunningServer.run(configuration) { _ in } }
    }
}
