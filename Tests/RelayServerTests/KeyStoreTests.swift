import Foundation
import Logging
import RoomAPI
import Synchronization
import Testing

@testable import RelayServer

/// The keys of tokens, which may be read again.
@Suite struct KeyStoreTests {
    private let path = FileManager.default.temporaryDirectory.appending(path: "confrelay-keys-\(UUID().uuidString)")
        .path
    private let lines = LogLines()

    private func store() throws -> KeyStore {
        try KeyStore(file: path, logger: Logger(label: "test") { [lines] _ in LogCollector(lines: lines) })
    }

    @Test("keys are read again; a file that cannot be used changes nothing")
    func reload() async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        try AccessKeys.newFile(.hs256, id: "main").write(toFile: path, atomically: true, encoding: .utf8)
        let keys = try store()
        let token = try await keys.current.sign(AccessClaims(room: "demo", role: .participant))
        try "nonsense".write(toFile: path, atomically: true, encoding: .utf8)
        await keys.reload()
        #expect(await keys.current.claims(of: token) != nil)
        try AccessKeys.newFile(.edDSA, id: "next").write(toFile: path, atomically: true, encoding: .utf8)
        await keys.reload()
        #expect(await keys.current.claims(of: token) == nil)
    }

    @Test("keys that came through a pipe stay, and nobody waits for another writer")
    func pipe() async throws {
        try #require(mkfifo(path, 0o600) == 0)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let text = try AccessKeys.newFile(.hs256, id: "main")
        Thread.detachNewThread { [path] in
            let pipe = FileHandle(forWritingAtPath: path)
            try? pipe?.write(contentsOf: Data(text.utf8))
            try? pipe?.close()
        }
        let keys = try store()
        let token = try await keys.current.sign(AccessClaims(room: "demo", role: .participant))
        await keys.reload()
        #expect(await keys.current.claims(of: token) != nil)
        #expect(lines.texts.withLock(\.self).map { $0.contains("is a pipe") } == [true])
    }
}
