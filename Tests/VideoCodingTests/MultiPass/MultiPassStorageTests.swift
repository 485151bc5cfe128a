import Foundation
import MediaCore
import Testing

@testable import VideoCoding

@Suite("A multi-pass storage")
struct MultiPassStorageTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func group(_ frames: Range<Int>, keyframes: [Int] = [0], size: Int = 1000) -> MultiPassAnalysis.Group {
        MultiPassAnalysis.Group(
            firstNumber: frames.lowerBound, times: frames.map(frameTime), keyframes: keyframes,
            end: frameTime(frames.upperBound),
            measurements: [PassMeasurement(rateFactor: 23, size: DataSize(bytes: size), distortion: 0.5)])
    }

    @Test("has the analysis when it is opened again")
    func reopening() throws {
        let path = folder.file("storage")
        let storage = try MultiPassStorage(path: path)
        try storage.claim(["size=1", "rate=2"])
        try storage.append(group(0..<20))
        try storage.append(group(20..<50, keyframes: [0, 1, 12]))
        try storage.append(group(50..<60))
        try storage.endPass(requesting: [
            PassPlanner.Request(group: 0, rateFactor: 20), PassPlanner.Request(group: 1, rateFactor: 21),
        ])
        let measured = PassMeasurement(rateFactor: 20, size: DataSize(bytes: 1500), distortion: 0.25)
        try storage.append(measured, group: 0)
        try storage.close()
        let again = try MultiPassStorage(path: path)
        try again.claim(["size=1", "rate=2"])
        let analysis = again.analysis
        #expect(analysis.pass == 2)
        #expect(analysis.frameCount == 60)
        #expect(analysis.size == DataSize(bytes: 3500))
        #expect(analysis.groups.map(\.range) == [frameRange(0..<20), frameRange(20..<50), frameRange(50..<60)])
        #expect(analysis.groups[1].keyframes == [0, 1, 12])
        #expect(analysis.groups[0].measurements.last == measured)
        // The rest of the pass.
        #expect(analysis.pending == [PassPlanner.Request(group: 1, rateFactor: 21)])
        #expect(analysis.pendingRanges == [frameRange(20..<50)])
        #expect(!analysis.isFinished)
    }

    @Test("joins ranges that touch, and covers everything before the first pass")
    func ranges() throws {
        let storage = try MultiPassStorage()
        #expect(storage.analysis.pendingRanges == [.all])
        for start in [0, 20, 40, 60] { try storage.append(group(start..<start + 20)) }
        #expect(
            storage.analysis.pendingRanges == [MediaTimeRange(start: frameTime(80), duration: .positiveInfinity)])
        try storage.endPass(requesting: [0, 2, 3].map { PassPlanner.Request(group: $0, rateFactor: 30) })
        #expect(storage.analysis.pendingRanges == [frameRange(0..<20), frameRange(40..<80)])
        for index in [0, 2, 3] {
            try storage.append(
                PassMeasurement(rateFactor: 30, size: DataSize(bytes: 5), distortion: 1), group: index)
        }
        #expect(storage.analysis.pendingRanges.isEmpty)
        #expect(!storage.analysis.isFinished)
        try storage.endPass(requesting: [])
        #expect(storage.analysis.isFinished)
    }

    @Test("names the property that has changed")
    func mismatch() throws {
        let path = folder.file("storage")
        let storage = try MultiPassStorage(path: path)
        try storage.claim(["picture size=128x96", "frame rate=30"])
        try storage.close()
        let again = try MultiPassStorage(path: path)
        #expect(throws: MultiPassError.mismatch(property: "frame rate", stored: "30", given: "25")) {
            try again.claim(["picture size=128x96", "frame rate=25"])
        }
        #expect(throws: MultiPassError.self) { try again.claim(["picture size=128x96"]) }
        try again.claim(["picture size=128x96", "frame rate=30"])
    }

    @Test("refuses damaged files, or has lost no more than their end")
    func damagedFile() throws {
        let path = folder.file("storage")
        let storage = try MultiPassStorage(path: path)
        try storage.claim(["size=1"])
        try storage.append(group(0..<3))
        try storage.endPass(requesting: [PassPlanner.Request(group: 0, rateFactor: 20)])
        try storage.close()
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        let place = folder.file("damaged")
        for index in whole.indices {
            var damaged = whole
            damaged[index] ^= 0x10
            try damaged.write(to: URL(fileURLWithPath: place))
            #expect(throws: MultiPassError.self, "byte \(index)") { try MultiPassStorage(path: place) }
        }
        for count in 16..<whole.count {
            try whole.prefix(count).write(to: URL(fileURLWithPath: place))
            #expect(try MultiPassStorage(path: place).analysis.pass == 1)
        }
    }

    @Test("refuses records that contradict one another")
    func contradictions() throws {
        let path = folder.file("storage")
        let log = try RecordLog(path: path, kind: RecordLog.Kind(signature: "H264PASS", name: "test"))
        // Frames 20 to 29 without those before them.
        let (tag, head, body) = AnalysisRecord.group(group(20..<30)).encoded
        _ = try log.append(tag: tag, head: head, body: body)
        log.close()
        #expect(throws: MultiPassError.self) { try MultiPassStorage(path: path) }
    }

    @Test("is temporary without a path, and leaves nothing behind once removed")
    func ending() throws {
        let storage = try MultiPassStorage(path: folder.file("storage"))
        #expect(folder.fileNames == ["storage"])
        try storage.remove()
        #expect(folder.fileNames.isEmpty)
        #expect(throws: MultiPassError.closed) { try storage.append(group(0..<3)) }
        let temporary = try MultiPassStorage()
        try temporary.append(group(0..<3))
        #expect(temporary.analysis.frameCount == 3)
        try temporary.close()
        #expect(throws: MultiPassError.closed) { try temporary.append(group(3..<6)) }
    }
}
