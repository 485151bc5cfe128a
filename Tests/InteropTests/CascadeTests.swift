import Foundation
import FoundationNetworking
import Glibc
import Testing

/// Two relays, the real etcd and one room that is too large for a relay.
@Suite(
    "A room on two relays", .serialized, .enabled(if: EtcdProgram.isInstalled, "needs etcd (Debian: etcd-server)"))
struct CascadeTests {
    private let folder: TemporaryFolder
    private let etcd: EtcdProgram
    private let relays: [RelayProgram]

    init() async throws {
        folder = try TemporaryFolder()
        etcd = try await EtcdProgram(in: folder)
        var relays: [RelayProgram] = []
        for name in ["a", "b"] {
            relays.append(
                try await RelayProgram(
                    [
                        "--canvas", "320x180", "--frame-rate", "10", "--max-participants", "1", "--cluster", etcd.url,
                        "--node-id", name,
                    ], in: folder))
        }
        self.relays = relays
    }

    private func join(_ name: String, at relay: RelayProgram, picture: String) throws -> ChildProcess {
        try ChildProcess(
            Programs.product("confclient"),
            [
                "join", relay.url("/rooms/demo"), "--name", name, "--size", "160x90", "--frame-rate", "10", "--quiet",
                "--snapshot", picture,
            ], in: folder)
    }

    private func metric(_ name: String, at relay: RelayProgram) async throws -> Double {
        let url = try #require(URL(string: relay.url("/metrics")))
        let (data, _) = try await URLSession.shared.data(from: url)
        let lines = String(decoding: data, as: UTF8.self).split(separator: "\n")
        let line = lines.first { $0.hasPrefix("\(name) ") }
        return line.flatMap { Double($0.dropFirst(name.count + 1)) } ?? 0
    }

    @Test("brings people together who do not fit on one relay, and goes on when one of the two is killed")
    func together() async throws {
        let ada = try join("Ada", at: relays[0], picture: "ada.png")
        try await eventually("somebody leads the room", within: .seconds(30)) { () -> Bool? in
            for relay in relays where (try? await relay.room("demo"))?.participants.count == 1 { return true }
            return nil
        }
        let ben = try join("Ben", at: relays[0], picture: "ben.png")
        let connected = #"confrelay_cluster_links{state="connected"}"#
        for relay in relays {
            try await eventually("the relays are linked, and pictures cross", within: .seconds(40)) { () -> Bool? in
                let isLinked = try await metric(connected, at: relay) == 1
                let packets = try await metric("confrelay_cluster_relayed_packets_total", at: relay)
                return isLinked && packets > 200 ? true : nil
            }
        }
        for relay in relays { #expect(try await relay.room("demo")?.participants.count == 1) }
        relays[1].child.signal(SIGKILL)
        try await eventually("the link is gone", within: .seconds(30)) { () -> Bool? in
            try await metric(connected, at: relays[0]) == 0 ? true : nil
        }
        for client in [ada, ben] { client.signal(SIGINT) }
        for client in [ada, ben] { _ = try await client.end(within: .seconds(20)) }
    }
}
