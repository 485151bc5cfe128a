import Foundation
import Logging
import OpenSSLClient
import ServiceLifecycle
import Synchronization
import Testing

@testable import RelayServer

@Suite("HTTPS")
struct TLSTests {
    /// A folder with files in it, gone with the test.
    private final class Folder {
        let url: URL

        init(_ files: [String: [UInt8]]) throws {
            url = FileManager.default.temporaryDirectory.appending(path: "confrelay-tls-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            for (name, text) in files { try Data(text).write(to: url.appending(path: name)) }
        }

        deinit {
            try? FileManager.default.removeItem(at: url)
        }

        func path(_ name: String) -> String { url.appending(path: name).path }
    }

    private func makeFolder() throws -> Folder {
        let own = try BareCertificate()
        return try Folder([
            "good.crt": own.certificateText, "old.crt": own.certificateText(validUntil: 1_500_000_000),
            "good.key": own.keyText, "same.key": own.keyText, "other.key": BareCertificate().keyText,
            "encrypted.key": own.encryptedKeyText, "empty": [], "text": Array("hello\n".utf8),
            "broken.crt": own.certificateText.map { $0 == UInt8(ascii: "M") ? UInt8(ascii: "!") : $0 },
        ])
    }

    private func load(_ folder: Folder, _ certificate: String, _ key: String) throws -> [String] {
        let lines = LogLines()
        _ = try TLSFiles(certificate: folder.path(certificate), key: folder.path(key))
            .load(logger: Logger(label: "test") { _ in LogCollector(lines: lines) })
        return lines.texts.withLock { $0 }
    }

    @Test("a certificate and its key are taken without a word")
    func goodFiles() throws {
        #expect(try load(makeFolder(), "good.crt", "good.key") == [])
    }

    @Test("an expired certificate is taken with a warning")
    func expired() throws {
        let lines = try load(makeFolder(), "old.crt", "good.key")
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("warning: the certificate in ") ?? false)
        #expect(lines.first?.contains("has expired") ?? false)
    }

    @Test(
        "files that cannot be used are refused by name, with the reason",
        arguments: [
            ("none.crt", "good.key", "none.crt", "there is no such file"),
            ("good.crt", "none.key", "none.key", "there is no such file"),
            (".", "good.key", "confrelay-tls-", "it is a folder"),
            ("text", "good.key", "text", "it holds no certificate in PEM"),
            ("empty", "good.key", "empty", "it holds no certificate in PEM"),
            ("broken.crt", "good.key", "broken.crt", "it holds no certificate in PEM"),
            ("good.key", "good.key", "good.key", "it holds no certificate in PEM"),
            ("good.crt", "text", "text", "it holds no private key in PEM"),
            ("good.crt", "good.crt", "good.crt", "it holds no private key in PEM"),
            ("good.crt", "encrypted.key", "encrypted.key", "it is encrypted"),
            ("good.crt", "other.key", "other.key", "does not fit the certificate"),
        ])
    func unusableFiles(certificate: String, key: String, name: String, reason: String) throws {
        let folder = try makeFolder()
        do {
            _ = try load(folder, certificate, key)
            Issue.record("the files were taken")
        } catch let error as StartupError {
            #expect(error.description.contains(name) && error.description.contains(reason), "\(error)")
        }
    }

    private func replace(_ name: String, in folder: Folder, by other: String) throws {
        try Data(contentsOf: folder.url.appending(path: other))
            .write(to: folder.url.appending(path: name), options: .atomic)
    }

    private func makeStore(in folder: Folder, log lines: LogLines) throws -> CertificateStore {
        try CertificateStore(
            files: TLSFiles(certificate: folder.path("good.crt"), key: folder.path("good.key")),
            logger: Logger(label: "test") { _ in LogCollector(lines: lines) })
    }

    @Test("a certificate whose file has changed is read again; files that have not changed are not")
    func changedCertificate() throws {
        let folder = try makeFolder()
        let lines = LogLines()
        let store = try makeStore(in: folder, log: lines)
        let first = store.context
        store.reloadIfChanged()
        #expect(store.context === first)
        try replace("good.crt", in: folder, by: "old.crt")
        store.reloadIfChanged()
        #expect(store.context !== first)
        #expect(lines.texts.withLock { $0.last } == "notice: the TLS certificate was read again")
    }

    @Test("when the changed files cannot be used, the earlier certificate stays, and the log says so once")
    func unusableChange() throws {
        let folder = try makeFolder()
        let lines = LogLines()
        let store = try makeStore(in: folder, log: lines)
        let first = store.context
        try replace("good.key", in: folder, by: "other.key")
        for _ in 0..<3 { store.reloadIfChanged() }
        #expect(store.context === first)
        let texts = lines.texts.withLock { $0 }
        #expect(texts.count == 1)
        #expect(texts.first?.hasPrefix("error: the earlier TLS certificate stays in use") ?? false)
        try replace("good.key", in: folder, by: "same.key")
        store.reloadIfChanged()
        #expect(store.context !== first)
    }

    /// Runs a server with a certificate meanwhile.
    private func withServer(_ body: (RelayServer.Endpoint) async throws -> Void) async throws {
        let folder = try makeFolder()
        var configuration = RelayServerConfiguration()
        configuration.port = 0
        configuration.tls = TLSFiles(certificate: folder.path("good.crt"), key: folder.path("good.key"))
        let script = TwinRelay.Script()
        let (listening, announce) = AsyncStream.makeStream(of: RelayServer.Endpoint.self)
        let server = try await RelayServer(
            configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            onListening: { announce.yield($0) }, makeRelay: { _ in TwinRelay(script) })
        let group = ServiceGroup(
            services: [server], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let run = Task {
            defer { announce.finish() }
            try await group.run()
        }
        var endpoints = listening.makeAsyncIterator()
        try await body(try #require(await endpoints.next()))
        await group.triggerGracefulShutdown()
        try await run.value
    }

    private func request(_ path: String) -> String {
        "GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    }

    @Test("signalling is served by TLS 1.2 and later, and says so")
    func serving() async throws {
        try await withServer { endpoint in
            #expect("\(endpoint)".contains("listening: https://127.0.0.1:\(endpoint.port) (signalling)"))
            let (port, request) = (Int(endpoint.port), request("/readyz"))
            for version in [BareTLSClient.Version.tls12, BareTLSClient.Version.tls13] {
                let answer = try await TLSExchange.answer(to: request, port: port, version: version)
                #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.contains("\"ready\":true"))
            }
            await #expect(throws: BareCertificate.LibraryFailure.self) {
                try await TLSExchange.answer(to: request, port: port, version: BareTLSClient.Version.tls11)
            }
        }
    }

    @Test("metrics say when the certificate expires")
    func expiry() async throws {
        try await withServer { endpoint in
            let answer = try await TLSExchange.answer(
                to: request("/metrics"), port: Int(endpoint.port), version: BareTLSClient.Version.tls13)
            let end = BareCertificate.validity.upperBound
            #expect(answer.contains("\nconfrelay_certificate_expiry_timestamp_seconds \(end)\n"))
        }
    }
}
