import Foundation
import MediaCore
import NIOCore
import Testing

@testable import VideoCoding

@Suite("A frame silo")
struct FrameSiloTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func makeSilo(inFile: Bool) throws -> FrameSilo {
        try FrameSilo(path: inFile ? folder.file("silo") : nil)
    }

    @Test("replaces the frame that has the same presentation time", arguments: [false, true])
    func replacement(inFile: Bool) throws {
        let silo = try makeSilo(inFile: inFile)
        for number in 0..<4 { try silo.add(makeSample(number, [UInt8(number)])) }
        // The same time in another timescale.
        var other = try makeSample(2, [7, 8, 9])
        other.presentationTime = MediaTime(value: 2, timescale: 30)
        try silo.add(other)
        #expect(silo.count == 4)
        #expect(silo.size == DataSize(bytes: 6))
        #expect(try silo.contents() == [[0], [1], [7, 8, 9], [3]])
    }

    @Test("gives frames in the order of decoding or of presentation", arguments: [false, true])
    func orders(inFile: Bool) throws {
        let silo = try makeSilo(inFile: inFile)
        for (decoded, shown) in [0, 4, 2, 1, 3].enumerated() {
            try silo.add(makeSample(shown, [UInt8(shown)], decoded: decoded - 2))
        }
        #expect(try silo.contents(order: .decoding) == [[0], [4], [2], [1], [3]])
        #expect(try silo.contents(order: .presentation) == [[0], [1], [2], [3], [4]])
        #expect(try silo.contents(in: frameRange(1..<3), order: .decoding) == [[2], [1]])
        #expect(try silo.contents(in: frameRange(1..<3), order: .presentation) == [[1], [2]])
        #expect(try silo.contents(in: frameRange(9..<12)) == [])
    }

    @Test("frames can be added and removed while the silo is iterated", arguments: [false, true])
    func changeWhileIterating(inFile: Bool) throws {
        let silo = try makeSilo(inFile: inFile)
        for number in 0..<4 { try silo.add(makeSample(number, [UInt8(number)])) }
        var seen: [[UInt8]] = []
        try silo.forEachSample { sample in
            if seen.isEmpty {
                try silo.add(makeSample(3, [33]))
                try silo.setTimeRangesForNextPass([frameRange(1..<2)])
            }
            seen.append(Array(sample.data.contiguous().readableBytesView))
        }
        #expect(seen == [[0], [2], [33]])
    }

    @Test("removes the frames of the next pass and accepts no others", arguments: [false, true])
    func timeRanges(inFile: Bool) throws {
        let silo = try makeSilo(inFile: inFile)
        for number in 0..<10 { try silo.add(makeSample(number, [UInt8(number)])) }
        try silo.setTimeRangesForNextPass([frameRange(1..<3), frameRange(7..<9)])
        #expect(try silo.contents() == [[0], [3], [4], [5], [6], [9]])
        #expect(throws: MultiPassError.outsideTimeRanges(frameTime(3))) { try silo.add(makeSample(3, [1])) }
        try silo.add(makeSample(7, [77]))
        #expect(try silo.contents(in: frameRange(6..<10)) == [[6], [77], [9]])
        #expect(silo.size == DataSize(bytes: 7))
    }

    @Test("refuses ranges that overlap, go backwards or are no time")
    func wrongRanges() throws {
        let silo = try FrameSilo()
        for ranges in [
            [frameRange(0..<2), frameRange(1..<3)], [frameRange(4..<5), frameRange(0..<1)], [.invalid],
        ] {
            #expect(throws: MultiPassError.invalidTimeRanges) { try silo.setTimeRangesForNextPass(ranges) }
        }
        #expect(throws: MultiPassError.invalidTime(.invalid)) {
            var sample = try makeSample(0, [1])
            sample.presentationTime = .invalid
            try silo.add(sample)
        }
    }

    @Test("reports the part of a pass that is there")
    func progress() throws {
        let unknown = try FrameSilo()
        #expect(unknown.progressOfCurrentPass == nil)
        let silo = try FrameSilo(timeRange: frameRange(0..<4))
        #expect(silo.progressOfCurrentPass == 0)
        try silo.add(makeSample(0, [0]))
        #expect(silo.progressOfCurrentPass == 0.25)
        for number in 1..<4 { try silo.add(makeSample(number, [0])) }
        #expect(silo.progressOfCurrentPass == 1)
        try silo.setTimeRangesForNextPass([frameRange(0..<1), frameRange(2..<3)])
        #expect(silo.progressOfCurrentPass == 0)
        try silo.add(makeSample(0, [0]))
        #expect(silo.progressOfCurrentPass == 0.5)
        try silo.setTimeRangesForNextPass([])
        #expect(silo.progressOfCurrentPass == 1)
    }

    @Test("has everything when it is opened again")
    func reopening() throws {
        let path = folder.file("silo")
        let silo = try FrameSilo(path: path)
        for (decoded, shown) in [0, 2, 1, 3].enumerated() {
            try silo.add(makeSample(shown, [UInt8(shown), 9], decoded: decoded - 1, isSync: shown == 0))
        }
        try silo.add(makeSample(2, [5], decoded: 0))
        try silo.setTimeRangesForNextPass([frameRange(3..<4)])
        let before = try silo.samples()
        try silo.close()
        let again = try FrameSilo(path: path)
        let after = try again.samples()
        #expect(after.count == 3)
        for (left, right) in zip(before, after) {
            #expect(left.data == right.data)
            #expect(left.format == right.format)
            #expect(left.presentationTime == right.presentationTime)
            #expect(left.decodeTime == right.decodeTime)
            #expect(left.duration == right.duration)
            #expect(left.isSync == right.isSync)
            #expect(left.dependency == right.dependency)
        }
        try again.add(makeSample(3, [3]))
        #expect(again.count == 4)
    }

    @Test("continues after the last complete frame when its process ended during a write")
    func unfinishedFile() throws {
        let path = folder.file("silo")
        let silo = try FrameSilo(path: path)
        try silo.add(makeSample(0, [1, 2, 3]))
        try silo.add(makeSample(1, [4, 5, 6]))
        try silo.close()
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        // Header 20, head 43, body 3.
        let lastFrame = 66
        for missing in 1...lastFrame {
            let cut = folder.file("cut\(missing)")
            try whole.dropLast(missing).write(to: URL(fileURLWithPath: cut))
            let again = try FrameSilo(path: cut)
            #expect(try again.contents() == [[1, 2, 3]])
            try again.add(makeSample(1, [7]))
            try again.close()
            #expect(try FrameSilo(path: cut).contents() == [[1, 2, 3], [7]])
        }
    }

    @Test("refuses a file in which any byte is damaged")
    func damagedFile() throws {
        let path = folder.file("silo")
        let silo = try FrameSilo(path: path)
        try silo.add(makeSample(0, [1, 2, 3]))
        try silo.add(makeSample(1, [4, 5, 6]))
        try silo.close()
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        var generator = SeededGenerator(seed: 5)
        for index in whole.indices {
            var damaged = whole
            damaged[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            let place = folder.file("damaged")
            try damaged.write(to: URL(fileURLWithPath: place))
            #expect(throws: MultiPassError.self, "byte \(index)") { try FrameSilo(path: place).contents() }
        }
    }

    @Test("refuses files of another kind, and files that are in use")
    func wrongFiles() throws {
        let path = folder.file("other")
        try Data("Some text that is long enough for a header.".utf8).write(to: URL(fileURLWithPath: path))
        #expect(throws: MultiPassError.wrongKind(path: path, expected: "frame silo")) { try FrameSilo(path: path) }
        let storage = folder.file("storage")
        try MultiPassStorage(path: storage).close()
        #expect(throws: MultiPassError.wrongKind(path: storage, expected: "frame silo")) {
            try FrameSilo(path: storage)
        }
        let silo = try FrameSilo(path: folder.file("silo"))
        #expect(throws: MultiPassError.inUse(path: folder.file("silo"))) {
            try FrameSilo(path: folder.file("silo"))
        }
        try silo.close()
        #expect(throws: MultiPassError.self) { try FrameSilo(path: folder.file("no/such/folder")) }
    }

    @Test("is of no use once closed, and leaves nothing behind once removed")
    func ending() throws {
        let silo = try makeSilo(inFile: true)
        try silo.add(makeSample(0, [1]))
        try silo.close()
        #expect(throws: MultiPassError.closed) { try silo.add(makeSample(1, [1])) }
        #expect(folder.fileNames == ["silo"])
        let again = try makeSilo(inFile: true)
        try again.remove()
        #expect(folder.fileNames.isEmpty)
        #expect(throws: MultiPassError.closed) { try again.setTimeRangesForNextPass([]) }
    }

    @Test("has no frames to give once closed, and says so", arguments: [true, false])
    func reading(inFile: Bool) throws {
        let silo = try makeSilo(inFile: inFile)
        try silo.add(makeSample(0, [1]))
        try silo.close()
        #expect(throws: MultiPassError.closed) { try silo.forEachSample { _ in } }
    }
}
