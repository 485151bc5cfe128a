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

/// Requests about outputs.
@Suite struct OutputRouteTests {
    /// A driver with a room, whose outputs never reach their servers.
    private func driver(_ client: SignallingClient) async -> RelayDriver {
        let driver = client.makeDriverOfRoom()
        await driver.setOutputs(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }) { _ in
            { _, _ throws(OutputFailure) in throw OutputFailure(reason: .refused, detail: "nobody listens") }
        }
        return driver
    }

    private func client(_ rules: String? = "live.example.org,10.0.0.0/8") throws -> SignallingClient {
        var client = SignallingClient()
        client.outputRules = try rules.map { try HostRules(parsing: $0) }
        return client
    }

    private func ask(
        _ client: SignallingClient, _ driver: RelayDriver, _ method: HTTPRequest.Method, _ path: String = "",
        _ body: String = ""
    ) async throws -> SignallingClient.Answer {
        try await client.ask(driver, method, ofRoom: "outputs\(path)", body)
    }

    @Test("an output is begun, shown and ended, and its key is in no answer")
    func life() async throws {
        let client = try client()
        let driver = await driver(client)
        let begun = try await ask(
            client, driver, .post, "",
            #"{"url":"rtmp://live.example.org/app/secret","name":"Example","layout":"speaker","size":"640x360"}"#)
        #expect(begun.status == .created)
        let id = try #require(begun.json["id"] as? String)
        #expect(begun.headers[.location] == "/rooms/demo/outputs/\(id)")
        #expect(begun.json["url"] as? String == "rtmp://live.example.org/\u{2026}")
        #expect(begun.json["name"] as? String == "Example")
        let settings = client.script.state.withLock { $0.outputs.first?.settings }
        #expect(settings?.size?.description == "640x360" && settings?.layout.mode == .speaker)
        let shown = try await ask(client, driver, .get, "/\(id)")
        #expect(shown.status == .ok && shown.json["id"] as? String == id)
        let list = try await ask(client, driver, .get)
        #expect((list.json["outputs"] as? [Any])?.count == 1)
        #expect(try await ask(client, driver, .delete, "/\(id)").status == .noContent)
        let ended = try await ask(client, driver, .get, "/\(id)")
        #expect(ended.json["state"] as? String == "ended" && ended.json["reason"] as? String == "stopped")
        for answer in [begun, shown, list, ended] { #expect(!answer.body.contains("secret")) }
        #expect(try await ask(client, driver, .get, "/other").status == .notFound)
        await driver.close()
    }

    @Test(
        "what cannot be sent is refused, and told why without the key",
        arguments: [
            (#"{"url":"http://live.example.org/secret"}"#, 422, "rtmp://, rtmps://, srt://"),
            (#"{"url":"rtmp://other.example.org/app/secret","size":"640x360"}"#, 403, "--outputs-to"),
            (#"{"url":"rtmp://127.0.0.1/app/secret"}"#, 403, "--outputs-to"),
            (#"{"url":"rtmp://localhost/app/secret"}"#, 403, "--outputs-to"),
            (#"{"url":"srt://live.example.org:9000?mode=listener"}"#, 422, "caller"),
            (#"{"name":"x"}"#, 400, "url"), (#"{"url":5}"#, 400, "url"), ("[]", 400, "object"),
            (#"{"url":"rtmp://live.example.org/app/secret","name":""}"#, 400, "name"),
            (#"{"url":"rtmp://live.example.org/app/secret","size":"1x1"}"#, 400, "size"),
            (#"{"url":"rtmp://live.example.org/app/secret","bitRate":1}"#, 400, "bitRate"),
        ])
    func refused(body: String, status: Int, words: String) async throws {
        let client = try client("live.example.org")
        let driver = await driver(client)
        let answer = try await ask(client, driver, .post, "", body)
        #expect(answer.status.code == status)
        #expect(answer.detail.contains(words), "\(answer.detail)")
        #expect(!answer.body.contains("secret"))
        #expect(client.script.state.withLock { $0.outputs.isEmpty })
        await driver.close()
    }

    @Test("a relay without --outputs-to sends nothing, and says what its operator can do")
    func off() async throws {
        let client = try client(nil)
        let driver = await driver(client)
        for method in [HTTPRequest.Method.get, .post] {
            let answer = try await ask(client, driver, method)
            #expect(answer.status == .forbidden && answer.detail.contains("--outputs-to"))
        }
        await driver.close()
    }

    @Test("a room that does not exist has no outputs")
    func noRoom() async throws {
        let client = try client()
        let driver = await driver(client)
        client.script.state.withLock { state in
            state.snapshot.rooms = []
            state.access = [:]
        }
        #expect(try await ask(client, driver, .get).status == .notFound)
        let body = #"{"url":"rtmp://live.example.org/app/secret"}"#
        #expect(try await ask(client, driver, .post, "", body).status == .notFound)
        await driver.close()
    }

    @Test("a relay has so many outputs at most")
    func bounds() async throws {
        let client = try client()
        let driver = await driver(client)
        let body = #"{"url":"rtmp://10.0.0.1/app/secret"}"#
        var ids: [String] = []
        for _ in 0..<OutputHub.maximumOutputs {
            let answer = try await ask(client, driver, .post, "", body)
            ids.append(try #require(answer.json["id"] as? String))
        }
        let refused = try await ask(client, driver, .post, "", body)
        #expect(refused.status == .serviceUnavailable && refused.headers[.retryAfter] != nil)
        let report = await driver.report()
        #expect(report.outputs?.states.values.reduce(0, +) == OutputHub.maximumOutputs)
        await driver.close()
    }
}
