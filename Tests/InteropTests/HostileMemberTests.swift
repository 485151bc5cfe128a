import ConferenceClient
import Foundation
import FoundationNetworking
import Testing

/// Members that attack the built `confrelay` under valid keys, on real sockets. `make test` runs this in a release
/// build: it covers the program that ships.
@Suite("Hostile members of a running relay", .serialized)
struct HostileMemberTests {
    @Test("the relay stays up, answers health checks and serves the others", arguments: HostileRecipe.all)
    func attack(recipe: HostileRecipe) async throws {
        let folder = try TemporaryFolder()
        let relay = try await RelayProgram(["--canvas", "320x180", "--frame-rate", "10"], in: folder)
        let ada = try client("Ada", of: relay, for: 60, in: folder)
        try await relay.participant("Ada", in: "demo") { $0.uplink.framesDecoded > 0 }
        let mallory = try await HostileMember(relay: relay, room: "demo", name: "Mallory")
        try await mallory.follow(recipe)
        #expect(mallory.packetsReceived > 20, "the member was sent \(mallory.packetsReceived) packets")

        let health = try await status("/healthz", of: relay)
        #expect(health == 200, "\(relay.child.errors)")
        let before = try await relay.participant("Ada", in: "demo").uplink.framesDecoded
        // A member that joins after the attack has a picture, and the members that were there are not disturbed.
        let ben = try client("Ben", of: relay, for: 4, in: folder)
        #expect(try await ben.end(within: .seconds(60)) == 0, "\(ben.errors)")
        let report = try JSONDecoder().decode(
            ClientReport.self, from: Data(contentsOf: folder.file("Ben.json")))
        #expect(report.receivedVideo.framesPerSecond > 2)
        try await relay.participant("Ada", in: "demo") { $0.uplink.framesDecoded > before + 10 }
        withExtendedLifetime((ada, mallory)) {}
    }

    private func client(
        _ name: String, of relay: RelayProgram, for seconds: Int, in folder: TemporaryFolder
    ) throws -> ChildProcess {
        try ChildProcess(
            Programs.product("confclient"),
            [
                "join", relay.url("/rooms/demo"), "--name", name, "--size", "160x90", "--frame-rate", "10", "--audio",
                "none", "--quiet", "--duration", "\(seconds)", "--stats", "\(name).json",
            ], in: folder)
    }

    private func status(_ path: String, of relay: RelayProgram) async throws -> Int? {
        let url = try #require(URL(string: relay.url(path)))
        return (try await URLSession.shared.data(from: url).1 as? HTTPURLResponse)?.statusCode
    }
}
