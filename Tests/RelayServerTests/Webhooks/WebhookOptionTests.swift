import ArgumentParser
import Foundation
import RoomAPI
import Testing

@testable import RelayServer
@testable import RoomMedia
@testable import confrelay

@Suite("Webhooks as options name them")
struct WebhookOptionTests {
    @Test("the fragment of a URL is its filter, and does not stay in it")
    func filter() throws {
        let endpoint = try WebhookEndpoint(
            parsing: "https://example.org/hook?a=b#events=participantJoined,joinRefused&rooms=demo,sales-*")
        #expect(endpoint.url == "https://example.org/hook?a=b")
        #expect(endpoint.kinds == [.participantJoined, .joinRefused])
        #expect(endpoint.rooms == ["demo", "sales-*"])
        #expect(endpoint.shownURL == "https://example.org/hook")
        #expect(try WebhookEndpoint(parsing: "http://[::1]:9000").kinds == nil)
    }

    @Test(
        "what names no endpoint is refused",
        arguments: [
            "", "example.org", "ftp://example.org/", "http://", "http://a b/", "https://ada:secret@example.org/",
            "http://a/#events=", "http://a/#events=nothing", "http://a/#people=ada", "http://a/#rooms",
        ])
    func refused(text: String) {
        #expect(throws: WebhookEndpoint.ParseError.self) { try WebhookEndpoint(parsing: text) }
    }

    @Test("signatures are those of Standard Webhooks")
    func signature() throws {
        // The example of the specification's reference libraries.
        let signer = try WebhookSigner(parsing: "# ours\nfirst whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n")
        let fields = signer.fields(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", body: Array(#"{"test": 2432232314}"#.utf8),
            at: Date(timeIntervalSince1970: 1_614_265_330))
        #expect(fields.map(\.name) == ["webhook-id", "webhook-timestamp", "webhook-signature", "webhook-key-id"])
        #expect(
            fields.map(\.value) == [
                "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
                "first",
            ])
    }

    @Test("with several keys there is a signature by each")
    func rotation() throws {
        let signer = try WebhookSigner(parsing: "old 0123456789abcdef\nnew fedcba9876543210\n")
        let fields = signer.fields(id: "e", body: [], at: Date())
        #expect(fields[2].value.split(separator: " ").count == 2)
        #expect(fields[3].value == "old,new")
    }

    @Test(
        "what has no keys is refused, without a word of the secret",
        arguments: [
            "", "# none", "secretwithoutid", "a short", "a whsec_!!!", "a 0123456789abcdef b", "a,b 0123456789abcdef",
            "a 0123456789abcdef\na 0123456789abcdef",
        ])
    func noKeys(text: String) {
        #expect {
            try WebhookSigner(parsing: text)
        } throws: { error in
            error is WebhookSigner.ParseError && !"\(error)".contains("0123456789abcdef")
                && !"\(error)".contains("secretwithoutid")
        }
    }

    @Test("webhooks reach the configuration, and need keys and URLs of their own")
    func options() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "webhook-\(UUID().uuidString).key").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data("a 0123456789abcdef\n".utf8).write(to: URL(fileURLWithPath: path))
        let options = [
            "--webhook", "http://a.example/", "--webhook-secret", path, "--webhook-queue", "q", "--event-log", "e",
        ]
        let configuration = try ConfrelayCommand.parse(options).serverConfiguration
        #expect(configuration.webhooks.map(\.url) == ["http://a.example/"])
        #expect(configuration.webhookSigner != nil && configuration.webhookQueueFolder == "q")
        #expect(configuration.eventLog == "e")
        func message(_ arguments: [String]) -> String {
            do {
                _ = try ConfrelayCommand.parse(arguments)
                return ""
            } catch { return ConfrelayCommand.message(for: error) }
        }
        #expect(message(["--webhook", "http://a.example/"]).contains("--webhook-secret"))
        #expect(message(options + ["--webhook", "http://a.example/#rooms=a"]).contains("its own URL"))
        #expect(message(["--webhook-secret", "/nowhere"]).contains("cannot be read"))
    }
}
