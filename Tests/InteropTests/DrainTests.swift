import Foundation
import FoundationNetworking
import Glibc
import Testing

/// The relay's end, with calls in progress.
@Suite("A relay that is stopped with --drain", .serialized)
struct DrainTests {
    private let folder: TemporaryFolder
    private let relay: RelayProgram

    init() async throws {
        folder = try TemporaryFolder()
        relay = try await RelayProgram(["--canvas", "320x180", "--frame-rate", "10", "--drain", "1h"], in: folder)
    }

    private func join(_ name: String, _ more: [String] = []) throws -> ChildProcess {
        try ChildProcess(
            Programs.product("confclient"),
            [
                "join", relay.url("/rooms/demo"), "--name", name, "--size", "160x90", "--frame-rate", "5", "--quiet",
            ] + more, in: folder)
    }

    private func stop() async throws {
        relay.child.signal(SIGTERM)
        let url = try #require(URL(string: relay.url("/readyz")))
        try await eventually("the relay drains", within: .seconds(20)) {
            let (_, response) = try await URLSession.shared.data(from: url)
            return (response as? HTTPURLResponse)?.statusCode == 503 ? true : nil
        }
    }

    @Test("lets calls go on, refuses others, and ends with the last call")
    func waiting() async throws {
        let ada = try join("Ada")
        try await relay.participant("Ada", in: "demo") { $0.uplink.framesReceived > 0 }
        try await stop()
        let late = try join("Late", ["--retries", "1"])
        #expect(try await late.end(within: .seconds(60)) != 0)
        #expect(late.errors.contains("takes no more joins") && late.errors.contains("1 of 1"), "\(late.errors)")
        let frames = try await relay.participant("Ada", in: "demo").uplink.framesReceived
        try await relay.participant("Ada", in: "demo") { $0.uplink.framesReceived > frames + 5 }
        #expect(relay.child.isRunning)
        ada.signal(SIGINT)
        #expect(try await ada.end(within: .seconds(20)) == 0)
        #expect(try await relay.child.end(within: .seconds(20)) == 0)
    }

    @Test("ends at once at a second signal")
    func secondSignal() async throws {
        let ada = try join("Ada")
        try await relay.participant("Ada", in: "demo") { $0.uplink.framesReceived > 0 }
        try await stop()
        relay.child.signal(SIGTERM)
        #expect(try await relay.child.end(within: .seconds(20)) == 0)
        // It is told goodbye, and that is no success of the call.
        _ = try await ada.end(within: .seconds(20))
    }
}
