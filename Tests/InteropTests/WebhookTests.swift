import Foundation
import Glibc
import Testing

/// The relay and a receiver as docs/webhooks.md shows them.
@Suite(
    "Webhooks of a running relay", .serialized,
    .enabled(if: Programs.areInstalled("python3"), "python3 is not installed"))
struct WebhookTests {
    private struct Event: Decodable {
        struct Person: Decodable {
            var name: String
        }
        var id: String
        var type: String
        var room: String?
        var roomSession: String?
        var participant: Person?
        var reason: String?
    }

    private let folder: TemporaryFolder
    private let port: UInt16

    init() throws {
        folder = try TemporaryFolder()
        port = try #require(FreePorts.pairs(1).first)
        try Data("key1 0123456789abcdef0123456789abcdef\n".utf8).write(to: folder.file("webhook.key"))
    }

    private func relay() async throws -> RelayProgram {
        try await RelayProgram(
            [
                "--canvas", "320x180", "--webhook", "http://127.0.0.1:\(port)/hook", "--webhook-secret", "webhook.key",
                "--webhook-queue", "queue", "--event-log", "events.ndjson",
            ], in: folder)
    }

    private func receiver() async throws -> ChildProcess {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("docs/examples/webhook-receiver.py")
        let child = try ChildProcess(
            #require(Programs.installed("python3")), [script.path, "--port", "\(port)", "--keys", "webhook.key"],
            in: folder)
        try await eventually("the receiver listens: \(child.errors)", within: .seconds(20)) {
            child.errors.contains("listening") ? true : nil
        }
        return child
    }

    private func join(_ relay: RelayProgram, _ name: String) throws -> ChildProcess {
        try ChildProcess(
            Programs.product("confclient"),
            ["join", relay.url("/rooms/demo"), "--name", name, "--size", "160x90", "--frame-rate", "5", "--quiet"],
            in: folder)
    }

    private func events(_ text: String) -> [Event] {
        text.split(separator: "\n").compactMap { try? JSONDecoder().decode(Event.self, from: Data($0.utf8)) }
    }

    @Test("a receiver is told of a call, signed and in order, and the event log has the same")
    func call() async throws {
        let (receiver, relay) = (try await receiver(), try await relay())
        let ada = try join(relay, "Ada")
        try await relay.participant("Ada", in: "demo") { $0.uplink.framesDecoded > 0 }
        ada.signal(SIGINT)
        _ = try await ada.end(within: .seconds(20))
        try await eventually("the room's end is told: \(receiver.output)", within: .seconds(20)) {
            receiver.output.contains("roomEnded") ? true : nil
        }
        let told = events(receiver.output).filter { $0.type != "activeSpeakerChanged" }
        #expect(told.map(\.type) == ["roomStarted", "participantJoined", "participantLeft", "roomEnded"])
        #expect(told[1].participant?.name == "Ada" && told[2].reason == "left")
        #expect(Set(told.map(\.roomSession)).count == 1)
        let logged = events(try String(contentsOf: folder.file("events.ndjson"), encoding: .utf8))
        #expect(logged.map(\.id) == events(receiver.output).map(\.id))
    }

    @Test("after kill -9 of the relay, what its queue had is delivered")
    func crash() async throws {
        let first = try await relay()
        let ada = try join(first, "Ada")
        try await first.participant("Ada", in: "demo") { $0.uplink.framesDecoded > 0 }
        try await eventually("the events are written", within: .seconds(20)) {
            let text = try? String(contentsOf: folder.file("events.ndjson"), encoding: .utf8)
            return text?.contains("participantJoined") == true ? true : nil
        }
        first.child.signal(SIGKILL)
        #expect(try await first.child.end(within: .seconds(20)) == -SIGKILL)
        withExtendedLifetime(ada) {}

        let receiver = try await receiver()
        let second = try await relay()
        try await eventually("the first relay's events come: \(second.child.errors)", within: .seconds(30)) {
            receiver.output.contains("participantJoined") ? true : nil
        }
        #expect(events(receiver.output).map(\.type).starts(with: ["roomStarted", "participantJoined"]))
    }

    @Test("a folder of another relay's queue is refused")
    func sharedFolder() async throws {
        let first = try await relay()
        let second = try ChildProcess(
            Programs.product("confrelay"),
            [
                "--port", "0", "--webhook", "http://127.0.0.1:\(port)/", "--webhook-secret", "webhook.key",
                "--webhook-queue", "queue",
            ], in: folder)
        #expect(try await second.end(within: .seconds(20)) == 73)
        #expect(second.errors.contains("another relay uses it"))
        withExtendedLifetime(first) {}
    }
}
