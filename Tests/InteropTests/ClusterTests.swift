import ConferenceClient
import Foundation
import FoundationNetworking
import Glibc
import Testing

/// Three relays and the real etcd.
@Suite("A cluster of relays", .serialized, .enabled(if: EtcdProgram.isInstalled, "needs etcd (Debian: etcd-server)"))
struct ClusterTests {
    private let folder: TemporaryFolder
    private let etcd: EtcdProgram
    private let relays: [RelayProgram]

    private static let relayOptions = ["--canvas", "320x180", "--frame-rate", "10", "--drain", "60s"]

    init() async throws {
        folder = try TemporaryFolder()
        etcd = try await EtcdProgram(in: folder)
        var relays: [RelayProgram] = []
        for name in ["a", "b", "c"] {
            relays.append(
                try await RelayProgram(
                    Self.relayOptions + ["--cluster", etcd.url, "--node-id", name], in: folder))
        }
        self.relays = relays
    }

    private func join(
        _ name: String, at relay: RelayProgram, _ more: [String] = [], isQuiet: Bool = true
    ) throws -> ChildProcess {
        try ChildProcess(
            Programs.product("confclient"),
            ["join", relay.url("/rooms/demo"), "--name", name, "--size", "160x90", "--frame-rate", "5"]
                + (isQuiet ? ["--quiet"] : []) + more, in: folder)
    }

    /// Joins two clients with one program.
    private func load(at relay: RelayProgram) throws -> ChildProcess {
        try ChildProcess(
            Programs.product("confclient"),
            ["load", relay.url("/rooms/demo"), "--count", "2", "--size", "160x90", "--frame-rate", "5", "--quiet"]
                + ["--stats", "load.json"], in: folder)
    }

    /// Both of these clients went to another relay for this reason, and saw a picture there.
    private func expectMoves(_ reason: String) throws {
        let report = try JSONDecoder().decode(LoadReport.self, from: Data(contentsOf: folder.file("load.json")))
        #expect(report.moves.map(\.reason) == [reason, reason] && report.clients.count == 4)
        #expect(report.totals.clientsWithoutVideo == 0)
    }

    /// The part of `confrelay cluster status --json` that the tests look at.
    private struct Status: Decodable {
        struct Relay: Decodable {
            var id: String
            var state: String
        }

        struct Room: Decodable {
            var id: String
            var owner: String?
            var relays: [String]
        }

        var relays: [Relay]
        var rooms: [Room]

        func room(_ id: String) -> Room? { rooms.first { $0.id == id } }
    }

    private func status() async throws -> Status {
        let command = try ChildProcess(
            Programs.product("confrelay"), ["cluster", "status", "--json", "--cluster", etcd.url], in: folder)
        #expect(try await command.end(within: .seconds(20)) == 0, "\(command.errors)")
        return try JSONDecoder().decode(Status.self, from: Data(command.output.utf8))
    }

    private func relay(_ id: String) throws -> RelayProgram {
        relays[try #require(["a", "b", "c"].firstIndex(of: id))]
    }

    /// The relay that leads the room, once it has this many participants there.
    private func owner(with participants: Int, within limit: Duration = .seconds(30)) async throws -> (
        String, RelayProgram
    ) {
        try await eventually("\(participants) participants are together", within: limit) {
            guard let id = try await status().room("demo")?.owner else { return nil }
            let relay = try relay(id)
            let room = try? await relay.room("demo")
            let connected = room?.participants.filter { $0.uplink.framesReceived > 0 }.count
            return connected == participants ? (id, relay) : nil
        }
    }

    @Test("brings people together who join at different relays")
    func joining() async throws {
        let clients = try zip(["Ada", "Bo", "Cy"], relays).map { try join($0, at: $1) }
        let (id, _) = try await owner(with: 3)
        let status = try await status()
        #expect(status.relays.map(\.id) == ["a", "b", "c"])
        #expect(status.room("demo")?.relays == [id])
        for client in clients { client.signal(SIGINT) }
        for client in clients { #expect(try await client.end(within: .seconds(20)) == 0, "\(client.errors)") }
        try await eventually("the room is gone", within: .seconds(30)) {
            try await self.status().rooms.isEmpty ? true : nil
        }
    }

    @Test("takes a room over when its relay is killed, in the layout that it had")
    func death() async throws {
        let clients = [
            try join("Ada", at: relays[0], ["--stats", "Ada.json"]), try join("Bo", at: relays[1]),
        ]
        let load = try load(at: relays[2])
        let (id, dead) = try await owner(with: 4)
        let layout = try ChildProcess(
            Programs.product("confclient"), ["layout", dead.url("/rooms/demo"), "speaker"], in: folder)
        #expect(try await layout.end(within: .seconds(20)) == 0, "\(layout.errors)")
        // The relay tells the directory of its rooms' settings once a second.
        let settings = try await eventually("the layout is in the directory", within: .seconds(10)) {
            try await self.settingsText().contains("speaker") ? true : nil
        }
        #expect(settings)
        dead.child.signal(SIGKILL)
        let (next, heir) = try await owner(with: 4, within: .seconds(30))
        #expect(next != id)
        let url = try #require(URL(string: heir.url("/rooms/demo")))
        let (data, _) = try await URLSession.shared.data(from: url)
        #expect(String(decoding: data, as: UTF8.self).contains(#""layout":"speaker""#))
        for client in clients {
            #expect(client.errors.contains("joined again at"), "\(client.errors)")
        }
        for client in clients + [load] { client.signal(SIGINT) }
        for client in clients + [load] { #expect(try await client.end(within: .seconds(20)) == 0, "\(client.errors)") }
        try expectMoves("relay-left")
        let ends = try ["Ada.json", "Ada-2.json"].map { name in
            try JSONDecoder().decode(ClientReport.self, from: Data(contentsOf: folder.file(name))).end
        }
        #expect(ends == ["relay-left", "interrupted"], "one session overwrites nothing of the other")
    }

    /// The key that the first member of a room is told.
    private func moderatorKey(of client: ChildProcess) async throws -> String {
        try await eventually("the client is told the moderator's key", within: .seconds(10)) {
            client.output.firstMatch(of: #/moderator's key: (\S+)/#).map { String($0.1) }
        }
    }

    @Test("does not open a room again that a moderator has ended")
    func endedRoom() async throws {
        let ada = try join("Ada", at: relays[0], isQuiet: false)
        let (_, relay) = try await owner(with: 1)
        let moderate = try ChildProcess(
            Programs.product("confclient"),
            ["moderate", relay.url("/rooms/demo"), "end", "--token", try await moderatorKey(of: ada)], in: folder)
        #expect(try await moderate.end(within: .seconds(20)) == 0, "\(moderate.errors)")
        #expect(try await ada.end(within: .seconds(20)) == 69)
        #expect(ada.errors.contains("ended the call for everyone"), "\(ada.errors)")
        #expect(!ada.errors.contains("joining again"), "\(ada.errors)")
    }

    @Test("keeps a room's lock and PIN when its relay is killed: its people come back, strangers do not come in")
    func lockedRoom() async throws {
        let ada = try join("Ada", at: relays[0], isQuiet: false)
        let (id, dead) = try await owner(with: 1)
        let key = try await moderatorKey(of: ada)
        for action in [["lock"], ["pin", "271828"]] {
            let moderate = try ChildProcess(
                Programs.product("confclient"), ["moderate", dead.url("/rooms/demo")] + action + ["--token", key],
                in: folder)
            #expect(try await moderate.end(within: .seconds(20)) == 0, "\(moderate.errors)")
        }
        try await eventually("the directory has both, and not the PIN itself", within: .seconds(10)) {
            let text = try await self.settingsText()
            #expect(!text.contains("271828"))
            return text.contains("\"locked\":true") && text.contains("\"pin\":") ? true : nil
        }
        dead.child.signal(SIGKILL)
        // Ada's key opens the room's state now, and not the tests' request.
        let next = try await eventually("another relay has the room", within: .seconds(30)) { () -> String? in
            guard ada.errors.contains("joined again at") else { return nil }
            return try await status().room("demo")?.owner.flatMap { $0 == id ? nil : $0 }
        }
        let stranger = try join("Eve", at: relay(next), ["--pin", "271828", "--retries", "0"])
        #expect(try await stranger.end(within: .seconds(20)) != 0)
        #expect(stranger.errors.contains("the room is locked"), "\(stranger.errors)")
        let unlock = try ChildProcess(
            Programs.product("confclient"), ["moderate", relay(next).url("/rooms/demo"), "unlock", "--token", key],
            in: folder)
        #expect(try await unlock.end(within: .seconds(20)) == 0, "\(unlock.errors)")
        ada.signal(SIGINT)
        #expect(try await ada.end(within: .seconds(20)) == 0, "\(ada.errors)")
    }

    @Test("has clients of a relay that drains join at another one before they leave")
    func draining() async throws {
        let clients = [try join("Ada", at: relays[0]), try join("Bo", at: relays[1])]
        let load = try load(at: relays[2])
        let (id, relay) = try await owner(with: 4)
        relay.child.signal(SIGTERM)
        // It ends when nobody is left, long before its time is over.
        #expect(try await relay.child.end(within: .seconds(30)) == 0, "\(relay.child.errors)")
        let (next, _) = try await owner(with: 4)
        #expect(next != id)
        for client in clients {
            #expect(client.errors.contains("is about to end; joining at another one"), "\(client.errors)")
        }
        for client in clients + [load] { client.signal(SIGINT) }
        for client in clients + [load] { #expect(try await client.end(within: .seconds(20)) == 0, "\(client.errors)") }
        try expectMoves("moved")
    }

    @Test(
        "has the page go to another relay before its own ends, without a word of a lost connection",
        .enabled(if: ChromeDriver.isInstalled, "needs chromium and chromedriver: make test installs them"))
    func pageMoves() async throws {
        let driver = try await ChromeDriver(in: folder)
        let people = [
            try await Person("Ada", .red, tone: 440, driver, in: folder),
            try await Person("Ben", .green, tone: 660, driver, in: folder),
        ]
        let result: Result<Void, any Error>
        do {
            result = .success(try await move(people))
        } catch {
            result = .failure(error)
        }
        for person in people { await person.browser.close() }
        try result.get()
    }

    private func move(_ people: [Person]) async throws {
        func seeEachOther() async throws {
            for (person, other) in zip(people, people.reversed()) {
                try await person.see("the other") { $0[other.colour, default: 0] > 0.1 }
                try await person.hear([other.tone])
            }
        }
        for (person, relay) in zip(people, relays) { try await person.join("demo", of: relay) }
        try await seeEachOther()
        for person in people {
            let _: Bool = try await person.browser.evaluate(
                """
                const element = document.getElementById('connection');
                const notices = document.getElementById('notices');
                window.wasAway = false;
                const look = () => {
                  window.wasAway ||= !element.hidden || notices.textContent.includes('You are back');
                };
                new MutationObserver(look).observe(element, { attributes: true });
                new MutationObserver(look).observe(notices, { childList: true });
                return true;
                """)
        }
        let (id, relay) = try await owner(with: 2)
        relay.child.signal(SIGTERM)
        #expect(try await relay.child.end(within: .seconds(60)) == 0, "\(relay.child.errors)")
        let (next, heir) = try await owner(with: 2)
        #expect(next != id)
        try await seeEachOther()
        for (person, other) in zip(people, people.reversed()) {
            let wasAway: Bool = try await person.browser.evaluate("return window.wasAway;")
            #expect(!wasAway)
            try await person.read(nil, of: other.name)
        }
        // The choice of a layout goes to the relay that has the call now.
        try await people[0].browser.click("#people-button")
        try await people[0].browser.click("[aria-label='Show Ben large']")
        try await people[0].see("Ben large") { $0[.green, default: 0] > 0.5 }
        for person in people { try await person.browser.click("#leave") }
        try await eventually("both have left", within: .seconds(20)) {
            try await heir.room("demo")?.participants.isEmpty ?? true ? true : nil
        }
    }

    @Test("takes joins of clients that do not follow redirections, by a relay that brings them on")
    func proxy() async throws {
        let ada = try join("Ada", at: relays[0])
        let (_, leader) = try await owner(with: 1)
        let bringer = try await RelayProgram(
            Self.relayOptions + ["--cluster", etcd.url, "--node-id", "d", "--join-by", "proxy"], in: folder)
        let offer = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("SDPTests/Fixtures/chromium-recvonly.sdp").path
        func post(to relay: RelayProgram) async throws -> [String] {
            let curl = try ChildProcess(
                #require(Programs.installed("curl")),
                ["-s", "-o", "answer.sdp", "-w", "%{http_code} %header{location}"]
                    + ["-H", "Content-Type: application/sdp", "--data-binary", "@\(offer)"]
                    + [relay.url("/rooms/demo/participants?name=Bo")], in: folder)
            #expect(try await curl.end(within: .seconds(20)) == 0)
            return curl.output.split(separator: " ").map(String.init)
        }
        let answer = try await post(to: bringer)
        #expect(
            answer.first == "201" && answer.last?.hasPrefix(leader.url("/rooms/demo/participants/")) == true,
            "\(answer)")
        let text = try String(contentsOf: folder.file("answer.sdp"), encoding: .utf8)
        #expect(text.hasPrefix("v=0"))
        ada.signal(SIGINT)
        #expect(try await ada.end(within: .seconds(20)) == 0, "\(ada.errors)")
    }

    @Test(
        "has a page that shows relays and rooms, and drains them for moderators alone",
        .enabled(if: ChromeDriver.isInstalled, "needs chromium and chromedriver: make test installs them"))
    func page() async throws {
        let ada = try join("Ada", at: relays[0])
        let (id, _) = try await owner(with: 1)
        let browser = try await Browser(ChromeDriver(in: folder), Browser.Options())
        let result: Result<Void, any Error>
        do {
            try await browser.open(relays[0].url("/cluster"))
            func rows(_ table: String) async throws -> [[String]] {
                try await browser.evaluate(
                    """
                    return [...document.querySelectorAll('#cluster-\(table) tr')]
                        .map((row) => [...row.cells].map((cell) => cell.textContent));
                    """)
            }
            try await eventually("relays and rooms are shown", within: .seconds(30)) {
                let (relays, rooms) = (try await rows("relays"), try await rows("rooms"))
                return relays.map { $0[0].prefix(1) } == ["a", "b", "c"] && rooms == [["demo", id, id]] ? true : nil
            }
            // An open relay is drained at its administration address alone.
            let idle = try #require(["a", "b", "c"].firstIndex { $0 != id })
            let _: Bool = try await browser.evaluate(
                "document.querySelectorAll('#cluster-relays button')[\(idle)].click(); return true;")
            try await eventually("the page says why it may not drain", within: .seconds(30)) {
                let text: String = try await browser.evaluate(
                    "return document.getElementById('cluster-state').textContent;")
                return text.contains("--admin-address") ? true : nil
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await browser.close()
        try result.get()
        ada.signal(SIGINT)
        #expect(try await ada.end(within: .seconds(20)) == 0, "\(ada.errors)")
    }

    /// The directory's values about rooms, by etcd's own interface.
    private func settingsText() async throws -> String {
        var request = URLRequest(url: try #require(URL(string: "\(etcd.url)/v3/kv/range")))
        request.httpMethod = "POST"
        let key = Data("/confrelay/v1/rooms/demo/settings".utf8).base64EncodedString()
        request.httpBody = Data(#"{"key":"\#(key)"}"#.utf8)
        let (data, _) = try await URLSession.shared.data(for: request)
        struct Answer: Decodable {
            struct Entry: Decodable { var value: Data }

            var kvs: [Entry]?
        }
        let entries = try JSONDecoder().decode(Answer.self, from: data).kvs ?? []
        return entries.first.map { String(decoding: $0.value, as: UTF8.self) } ?? ""
    }

    @Test("goes on without etcd, opens rooms meanwhile, and agrees again when it is back")
    func withoutDirectory() async throws {
        let ada = try join("Ada", at: relays[0])
        let (_, leader) = try await owner(with: 1)
        try await etcd.kill()
        let metrics = try #require(URL(string: leader.url("/metrics")))
        try await eventually("the relay has noticed", within: .seconds(20)) { () -> Bool? in
            let (data, _) = try await URLSession.shared.data(from: metrics)
            return String(decoding: data, as: UTF8.self).contains("confrelay_cluster_reachable 0") ? true : nil
        }
        let frames = try await leader.participant("Ada", in: "demo").uplink.framesReceived
        try await leader.participant("Ada", in: "demo") { $0.uplink.framesReceived > frames + 5 }
        let other = try ChildProcess(
            Programs.product("confclient"),
            [
                "join", relays[1].url("/rooms/other"), "--name", "Bo", "--size", "160x90", "--frame-rate", "5",
                "--quiet",
            ],
            in: folder)
        try await relays[1].participant("Bo", in: "other") { $0.uplink.framesReceived > 0 }
        try await etcd.restart()
        try await eventually("both rooms have owners, and all relays are back", within: .seconds(30)) { () -> Bool? in
            let status = try await status()
            return status.room("demo")?.owner != nil && status.room("other")?.owner == "b" && status.relays.count == 3
                ? true : nil
        }
        try await leader.participant("Ada", in: "demo") { $0.uplink.framesReceived > frames + 10 }
        for client in [ada, other] { client.signal(SIGINT) }
        for client in [ada, other] { #expect(try await client.end(within: .seconds(20)) == 0, "\(client.errors)") }
    }
}
