import Foundation
import FoundationNetworking
import Glibc
import Testing

/// Three relays, the real etcd and one room that is too large for a relay.
@Suite(
    "A room on several relays", .serialized, .enabled(if: EtcdProgram.isInstalled, "needs etcd (Debian: etcd-server)"))
struct CascadeTests {
    private let folder: TemporaryFolder
    private let etcd: EtcdProgram
    private let relays: [RelayProgram]

    init() async throws {
        folder = try TemporaryFolder()
        etcd = try await EtcdProgram(in: folder)
        var relays: [RelayProgram] = []
        for name in ["a", "b", "c"] {
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

    /// Reads a relay's figures on its links.
    private func metrics(at relay: RelayProgram) async throws -> LinkMetrics {
        let url = try #require(URL(string: relay.url("/metrics")))
        let (data, _) = try await URLSession.shared.data(from: url)
        return LinkMetrics(String(decoding: data, as: UTF8.self))
    }

    private struct LinkMetrics: CustomStringConvertible {
        private var lines: [Substring]

        init(_ text: String) {
            lines = text.split(separator: "\n").filter { $0.hasPrefix("confrelay_cluster_") }
        }

        private func value(_ name: String) -> Double {
            let line = lines.first { $0.hasPrefix("\(name) ") }
            return line.flatMap { Double($0.dropFirst(name.count + 1)) } ?? 0
        }

        var connected: Double { value(#"confrelay_cluster_links{state="connected"}"#) }
        /// Packets that were sent to other relays.
        var packets: Double { value("confrelay_cluster_relayed_packets_total") }
        var description: String { lines.joined(separator: "\n") }
    }

    /// Waits until a relay has a link, by which it has sent about two seconds of sound.
    private func linked(_ relay: RelayProgram) async throws {
        var last: LinkMetrics?
        try await eventually(
            "linked, and pictures cross: \(last.map(\.description) ?? "")\n\(relay.child.errors)", within: .seconds(40)
        ) { () -> Bool? in
            let metrics = try await metrics(at: relay)
            last = metrics
            return metrics.connected == 1 && metrics.packets > 100 ? true : nil
        }
    }

    /// The relay at which somebody is, once that is so.
    private func home(of name: String) async throws -> RelayProgram {
        try await eventually("\(name) is at a relay", within: .seconds(40)) {
            for relay in relays {
                let url = try #require(URL(string: relay.url("/rooms/demo")))
                // A relay without the room sends requests to the one that leads it.
                guard let (data, response) = try? await URLSession.shared.data(from: url),
                    response.url?.port == Int(relay.port),
                    let room = try? JSONDecoder().decode(RoomState.self, from: data)
                else { continue }
                if room.participants.contains(where: { $0.name == name }) { return relay }
            }
            return nil
        }
    }

    @Test("brings people together who do not fit on one relay, and goes on when one of two is killed")
    func together() async throws {
        let ada = try join("Ada", at: relays[0], picture: "ada.png")
        let first = try await home(of: "Ada")
        let ben = try join("Ben", at: relays[0], picture: "ben.png")
        let second = try await home(of: "Ben")
        for relay in [first, second] {
            try await linked(relay)
            #expect(try await relay.room("demo")?.participants.count == 1)
        }
        second.child.signal(SIGKILL)
        let third = try #require(relays.first { $0.child !== first.child && $0.child !== second.child })
        try await linked(third)
        #expect(ben.errors.contains("joined again at"), "\(ben.errors)")
        for client in [ada, ben] { client.signal(SIGINT) }
        for client in [ada, ben] { #expect(try await client.end(within: .seconds(20)) == 0, "\(client.errors)") }
    }

    @Test(
        "two people in Chromium see and hear each other across relays, and one comes back whose relay is killed",
        .enabled(if: ChromeDriver.isInstalled, "needs chromium and chromedriver: make test installs them"))
    func browsers() async throws {
        let driver = try await ChromeDriver(in: folder)
        let ada = try await Person("Ada", .red, tone: 440, driver, in: folder)
        let ben = try await Person("Ben", .green, tone: 660, driver, in: folder)
        let result: Result<Void, any Error>
        do {
            result = .success(try await meet(ada, ben))
        } catch {
            result = .failure(error)
        }
        for person in [ada, ben] { await person.browser.close() }
        try result.get()
    }

    private func meet(_ ada: Person, _ ben: Person) async throws {
        try await ada.join("demo", of: relays[0])
        let first = try await home(of: "Ada")
        try await ben.join("demo", of: relays[1])
        let second = try await home(of: "Ben")
        #expect(first.child !== second.child)
        for (person, other) in [(ada, ben), (ben, ada)] {
            try await person.see("the other") { $0[other.colour, default: 0] > 0.2 }
            try await person.hear([other.tone])
            try await person.read(nil, of: other.name)
            try await person.browser.screenshot(to: TestOutput.file("cascade-\(person.name).png"))
        }
        second.child.signal(SIGKILL)
        let third = try await home(of: "Ben")
        #expect(third.child !== first.child && third.child !== second.child)
        // Ben may be back before Ada's relay gives his last picture up: what he changes now shows that she sees him.
        try await ben.hear([ada.tone])
        try await ben.browser.click("#camera")
        try await ada.see("no camera", within: .seconds(40)) { $0[ben.colour, default: 0] < 0.02 }
        try await ben.browser.click("#camera")
        for (person, other) in [(ben, ada), (ada, ben)] {
            try await person.see("the other again", within: .seconds(60)) { $0[other.colour, default: 0] > 0.2 }
            try await person.hear([other.tone])
            try await person.browser.screenshot(to: TestOutput.file("cascade-\(person.name)-again.png"))
        }
    }
}
