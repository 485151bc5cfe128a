import Foundation
import Testing

@testable import RelayServer

@Suite("Queues of webhooks on disk")
struct WebhookQueueTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "queue-\(UUID().uuidString)")

    private func line(_ number: Int) -> Data { Data("line \(number)".utf8) }

    private func texts(_ entries: [WebhookQueue.Entry]) -> [String] {
        entries.map { String(decoding: $0.line, as: UTF8.self) }
    }

    @Test("lines come back in order, over several files, and only until they are delivered")
    func order() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        var queue = try WebhookQueue(folder: folder, fileLimit: 30)
        #expect(try queue.next(10).isEmpty)
        for number in 0..<10 { try queue.append(line(number)) }
        let first = try queue.next(4)
        #expect(texts(first) == (0..<4).map { "line \($0)" })
        #expect(try queue.next(4) == first)
        try queue.deliver(upTo: first[2].end)
        #expect(texts(try queue.next(100)) == (3..<10).map { "line \($0)" })
        try queue.deliver(upTo: #require(queue.next(100).last).end)
        #expect(try queue.next(1).isEmpty && queue.size == 0)
        try queue.append(line(10))
        #expect(texts(try queue.next(5)) == ["line 10"])
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".ndjson") }
        #expect(files.count <= 2, "delivered files are removed: \(files)")
    }

    @Test("a queue that is opened again has what was not delivered, and goes on")
    func reopening() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        var queue = try WebhookQueue(folder: folder, fileLimit: 30)
        for number in 0..<7 { try queue.append(line(number)) }
        try queue.deliver(upTo: queue.next(5)[4].end)
        var again = try WebhookQueue(folder: folder, fileLimit: 30)
        try again.append(line(7))
        #expect(texts(try again.next(9)) == ["line 5", "line 6", "line 7"])
    }

    @Test("a line that a crash cut short is left out")
    func tornLine() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        var queue = try WebhookQueue(folder: folder)
        for number in 0..<3 { try queue.append(line(number)) }
        let file = folder.appending(path: "1.ndjson")
        try Data((try Data(contentsOf: file)).dropLast(3)).write(to: file)
        var again = try WebhookQueue(folder: folder)
        try again.append(line(3))
        #expect(texts(try again.next(9)) == ["line 0", "line 1", "line 3"])
    }

    @Test("a line that could be written only in part is left out, and those around it come whole")
    func partialWrite() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let refused: Data = line(1) + [0x0A]
        var queue = try WebhookQueue(folder: folder) { file, bytes in
            guard bytes == refused else { return try file.write(contentsOf: bytes) }
            try file.write(contentsOf: bytes.prefix(3))
            throw CocoaError(.fileWriteOutOfSpace)
        }
        try queue.append(line(0))
        #expect(throws: CocoaError.self) { try queue.append(line(1)) }
        try queue.append(line(2))
        #expect(texts(try queue.next(9)) == ["line 0", "line 2"])
        var again = try WebhookQueue(folder: folder)
        #expect(texts(try again.next(9)) == ["line 0", "line 2"])
    }

    @Test(
        "whatever is in the folder, it opens and goes on",
        arguments: ["", "9 9", "1 99999999", "-1 -1", "x", "1 9223372036854775807 3"])
    func strangePosition(position: String) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        var queue = try WebhookQueue(folder: folder)
        for number in 0..<3 { try queue.append(line(number)) }
        try Data(position.utf8).write(to: folder.appending(path: "position"))
        for name in ["x", "9223372036854775807", "+7", "007"] {
            try Data("noise\n".utf8).write(to: folder.appending(path: "\(name).ndjson"))
        }
        var again = try WebhookQueue(folder: folder)
        try again.append(line(3))
        #expect(texts(try again.next(9)) == ["line 0", "line 1", "line 2", "line 3"])
    }

    @Test("it is bounded: the oldest lines make room, and are counted")
    func bound() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        var queue = try WebhookQueue(folder: folder, limit: 200, fileLimit: 50)
        for number in 100..<200 { try queue.append(line(number)) }
        #expect(queue.size <= 200)
        let left = try queue.next(100)
        #expect(texts(left).last == "line 199")
        #expect(queue.dropped == UInt64(100 - left.count))
        #expect(texts(left) == ((200 - left.count)..<200).map { "line \($0)" })
        // A window that was read before its lines were dropped changes nothing.
        try queue.deliver(upTo: .init(file: 1, offset: 9))
        #expect(try queue.next(100) == left)
    }

    @Test("a line too long to be an event is dropped")
    func longLine() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        var queue = try WebhookQueue(folder: folder)
        try queue.append(Data(repeating: 0x61, count: 40_000))
        try queue.append(line(1))
        #expect(texts(try queue.next(9)) == ["line 1"] && queue.dropped == 1)
    }
}
