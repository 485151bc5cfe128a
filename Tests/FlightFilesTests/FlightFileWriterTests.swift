import CongestionControl
import FlightRecording
import Foundation
import MediaCore
import Synchronization
import Testing

@testable import FlightFiles

@Suite("Writing flight recordings to files")
struct FlightFileWriterTests {
    /// A folder that goes away with the test.
    private final class Folder {
        let path = NSTemporaryDirectory() + "flight-\(UUID().uuidString)"

        init() throws {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }

        deinit {
            try? FileManager.default.removeItem(atPath: path)
        }

        func bytes(_ name: String) throws -> [UInt8] {
            [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + "/" + name)))
        }
    }

    private let header = FlightHeader(
        controller: "google",
        limits: RateLimits(minimum: .kilobits(100), start: .kilobits(300), maximum: .megabits(2)), start: .zero)

    private func record(_ count: Int, with recorder: FlightRecorder) {
        for index in 0..<count {
            recorder.record(.demandChanged(.kilobits(500)), now: MonotonicInstant(nanoseconds: Int64(index)))
        }
    }

    private func decode(_ bytes: [UInt8]) throws -> (count: Int, ending: FlightEnding?) {
        var decoder = try FlightDecoder(bytes)
        var count = 0
        while try decoder.next() != nil { count += 1 }
        return (count, decoder.ending)
    }

    @Test("files are readable by their owner alone")
    func permissions() async throws {
        let folder = try Folder()
        let writer = FlightFileWriter()
        let recorder = FlightRecorder(
            header: header, sink: writer.makeSink(path: folder.path + "/a.flight", opening: .create))
        record(1, with: recorder)
        await writer.shutDown()
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/a.flight")
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test("a folder holds a limited number of recordings: the oldest complete ones are removed, other files stay")
    func retention() async throws {
        let folder = try Folder()
        for (index, name) in ["old.flight", "older.flight", "notes.txt"].enumerated() {
            let path = folder.path + "/" + name
            try Data("x".utf8).write(to: URL(fileURLWithPath: path))
            let time = Date(timeIntervalSince1970: 1_000_000 - Double(index) * 1000)
            try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: path)
        }
        let writer = FlightFileWriter(retention: FlightFileRetention(folder: folder.path, maximumCount: 2))
        let recorder = FlightRecorder(
            header: header, sink: writer.makeSink(path: folder.path + "/new.flight", opening: .create))
        record(1, with: recorder)
        #expect(await writer.shutDown() == nil)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names == ["new.flight", "notes.txt", "old.flight"])
    }

    @Test("recordings that are being written are not removed for others, which are not made")
    func openFiles() async throws {
        let folder = try Folder()
        let writer = FlightFileWriter(retention: FlightFileRetention(folder: folder.path, maximumCount: 2))
        let recorders = ["a", "b", "c"].map { name in
            FlightRecorder(
                header: header, sink: writer.makeSink(path: folder.path + "/\(name).flight", opening: .create))
        }
        for recorder in recorders { record(1, with: recorder) }
        #expect(await writer.shutDown() == .tooManyFiles(path: folder.path + "/c.flight", limit: 2))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["a.flight", "b.flight"])
    }

    @Test("recordings are complete in their files")
    func severalFiles() async throws {
        let folder = try Folder()
        let writer = FlightFileWriter()
        for (name, count) in [("a", 10), ("b", 20_000)] {
            let recorder = FlightRecorder(
                header: header, sink: writer.makeSink(path: folder.path + "/" + name, opening: .create))
            record(count, with: recorder)
        }
        #expect(await writer.shutDown() == nil)
        let (a, b) = (try decode(folder.bytes("a")), try decode(folder.bytes("b")))
        #expect(a.count == 10 && a.ending == .closed)
        #expect(b.count == 20_000 && b.ending == .closed)
    }

    @Test("a shutdown ends recordings that are not over")
    func shutdown() async throws {
        let folder = try Folder()
        let writer = FlightFileWriter()
        let recorder = FlightRecorder(
            header: header, sink: writer.makeSink(path: folder.path + "/a", opening: .create))
        record(5, with: recorder)
        await writer.shutDown()
        record(5, with: recorder)
        let (count, ending) = try decode(folder.bytes("a"))
        #expect(count == 5 && ending == .closed)
    }

    @Test("a recording that the writer cannot follow ends before the first record that found no room")
    func overrun() async throws {
        let folder = try Folder()
        let problems = Mutex<[FlightFileProblem]>([])
        // It looks once a minute: never, in this test.
        let writer = FlightFileWriter(interval: .seconds(60), capacity: DataSize(bytes: 1000)) { problem in
            problems.withLock { $0.append(problem) }
        }
        let path = folder.path + "/a"
        let recorder = FlightRecorder(header: header, sink: writer.makeSink(path: path, opening: .create))
        record(1000, with: recorder)
        await writer.shutDown()
        let (count, ending) = try decode(folder.bytes("a"))
        #expect((100..<200).contains(count))
        #expect(ending == .overrun(lostRecords: 1000 - count))
        #expect(problems.withLock { $0 } == [.fellBehind(path: path, lostRecords: 1000 - count)])
    }

    @Test("a file that cannot be made is reported, and its recorder has no effect")
    func cannotCreate() async throws {
        let folder = try Folder()
        let writer = FlightFileWriter()
        let path = folder.path + "/absent/a"
        let recorder = FlightRecorder(header: header, sink: writer.makeSink(path: path, opening: .create))
        record(10, with: recorder)
        #expect(await writer.shutDown() == .cannotCreate(path: path, reason: "its folder does not exist"))
    }

    @Test("a file that is there is kept, or replaced where that is asked for")
    func existing() async throws {
        let folder = try Folder()
        let path = folder.path + "/a"
        try Data("old".utf8).write(to: URL(fileURLWithPath: path))
        var writer = FlightFileWriter()
        _ = FlightRecorder(header: header, sink: writer.makeSink(path: path, opening: .create))
        #expect(await writer.shutDown() != nil)
        #expect(try folder.bytes("a") == Array("old".utf8))
        writer = FlightFileWriter()
        _ = FlightRecorder(header: header, sink: writer.makeSink(path: path, opening: .replace))
        #expect(await writer.shutDown() == nil)
        #expect(try decode(folder.bytes("a")).ending == .closed)
    }
}
