import Foundation
import HTTPTypes
import Logging
import MediaCore
import RoomAPI
import Synchronization
import Testing

@testable import Conference
@testable import RelayServer
@testable import RoomMedia

/// Requests about players.
@Suite struct PlayerRouteTests {
    private func driver(_ client: SignallingClient) async -> RelayDriver {
        let driver = client.makeDriverOfRoom()
        if let rules = client.playerRules {
            await driver.setPlayers(rules, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        }
        return driver
    }

    /// Hosts that refuse connections, and an empty folder.
    private func client(_ hosts: String = "127.0.0.1") throws -> SignallingClient {
        var client = SignallingClient()
        client.playerRules = PlayerRules(
            folder: FileManager.default.temporaryDirectory.path, hosts: try HostRules(parsing: hosts))
        return client
    }

    private func ask(
        _ client: SignallingClient, _ driver: RelayDriver, _ method: HTTPRequest.Method, _ path: String = "",
        _ body: String = ""
    ) async throws -> SignallingClient.Answer {
        try await client.ask(driver, method, ofRoom: "players\(path)", body)
    }

    @Test("a player is begun, shown, changed and ended, and its key is in no answer")
    func life() async throws {
        let client = try client()
        let driver = await driver(client)
        let begun = try await ask(
            client, driver, .post, "",
            #"{"url":"rtmp://127.0.0.1:9/app/secret","name":"Studio","volume":0.5,"loop":true}"#)
        #expect(begun.status == .created, "\(begun.body)")
        let id = try #require(begun.json["id"] as? String)
        #expect(begun.headers[.location] == "/rooms/demo/players/\(id)")
        #expect(begun.json["url"] as? String == "rtmp://127.0.0.1:9/\u{2026}")
        #expect(begun.json["name"] as? String == "Studio" && begun.json["volume"] as? Double == 0.5)
        #expect(try await ask(client, driver, .put, "/\(id)", #"{"paused":true,"volume":2}"#).status == .noContent)
        let shown = try await ask(client, driver, .get, "/\(id)")
        #expect(shown.json["volume"] as? Double == 2 && shown.json["loop"] as? Bool == true)
        let seek = try await ask(client, driver, .put, "/\(id)", #"{"position":3}"#)
        #expect(seek.status == .conflict)
        let list = try await ask(client, driver, .get)
        #expect((list.json["players"] as? [Any])?.count == 1)
        #expect(try await ask(client, driver, .delete, "/\(id)").status == .noContent)
        let ended = try await ask(client, driver, .get, "/\(id)")
        #expect(ended.json["state"] as? String == "ended" && ended.json["reason"] as? String == "stopped")
        for answer in [begun, shown, list, ended] { #expect(!answer.body.contains("secret")) }
        #expect(try await ask(client, driver, .get, "/other").status == .notFound)
        #expect(try await ask(client, driver, .put, "/other", #"{"paused":true}"#).status == .notFound)
        #expect(try await ask(client, driver, .delete, "/other").status == .notFound)
        await driver.close()
    }

    @Test(
        "what cannot be played is refused, and told why without the key",
        arguments: [
            (#"{"url":"ftp://127.0.0.1/secret"}"#, 422, "rtmp://"), (#"{"url":"../secret"}"#, 422, "without .."),
            (#"{"url":"http://other.example.org/secret"}"#, 403, "--players-from"),
            (#"{"url":"rtsp://other.example.org/secret"}"#, 403, "--players-from"),
            (#"{"name":"x"}"#, 400, "url"), (#"{"url":5}"#, 400, "url"), ("[]", 400, "object"),
            (#"{"url":"a.mp4","name":""}"#, 400, "name"), (#"{"url":"a.mp4","rate":0}"#, 400, "rate"),
            (#"{"url":"a.mp4","volume":-1}"#, 400, "volume"), (#"{"url":"a.mp4","position":1e300}"#, 400, "position"),
            (#"{"url":"a.mp4","loop":1}"#, 400, "loop"),
            (#"{"url":"rtmp://films.example.org/a/secret","position":3}"#, 409, "it is live"),
        ])
    func refused(body: String, status: Int, words: String) async throws {
        let client = try client("films.example.org")
        let driver = await driver(client)
        let answer = try await ask(client, driver, .post, "", body)
        #expect(answer.status.code == status)
        #expect(answer.detail.contains(words), "\(answer.detail)")
        #expect(!answer.body.contains("secret"))
        #expect(client.script.state.withLock { $0.players.isEmpty })
        await driver.close()
    }

    @Test("a relay without permitted films and hosts plays nothing, and says what its operator can do")
    func off() async throws {
        let client = SignallingClient()
        let driver = await driver(client)
        for method in [HTTPRequest.Method.get, .post] {
            let answer = try await ask(client, driver, method)
            #expect(answer.status == .forbidden && answer.detail.contains("--player-files"))
        }
        await driver.close()
    }

    @Test("a film is begun at the place that its request names")
    func place() async throws {
        let client = try client()
        let driver = await driver(client)
        let begun = try await ask(client, driver, .post, "", #"{"url":"talk.mp4","position":90.5}"#)
        #expect(begun.status == .created)
        #expect(begun.json["position"] as? Double == 90.5)
        await driver.close()
    }

    @Test("a film that is not there ends, and everybody is told why")
    func missing() async throws {
        let client = try client()
        let driver = await driver(client)
        let begun = try await ask(client, driver, .post, "", #"{"url":"there-is-no-such-film.mp4"}"#)
        let id = try #require(begun.json["id"] as? String)
        try await client.script.wait { $0.players.isEmpty }
        let ended = try await ask(client, driver, .get, "/\(id)")
        #expect(ended.json["state"] as? String == "ended" && ended.json["reason"] as? String == "notFound")
        await driver.close()
    }

    @Test("a relay has so many players at most")
    func bounds() async throws {
        let client = try client()
        let driver = await driver(client)
        let body = #"{"url":"rtmp://127.0.0.1:9/app/secret"}"#
        for _ in 0..<PlayerHub.maximumPlayers {
            #expect(try await ask(client, driver, .post, "", body).status == .created)
        }
        let refused = try await ask(client, driver, .post, "", body)
        #expect(refused.status == .serviceUnavailable && refused.headers[.retryAfter] != nil)
        let report = await driver.report()
        #expect(report.players?.states.values.reduce(0, +) == PlayerHub.maximumPlayers)
        await driver.close()
    }
}
