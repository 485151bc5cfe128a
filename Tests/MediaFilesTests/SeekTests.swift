import Foundation
import H264
import MediaCore
import MediaFiles
import NIOCore
import Testing

@Suite("Seeking in movies")
struct SeekTests {
    /// Thirty frames with a keyframe every tenth. Between them each second frame is shown before the one before it.
    private func reorderedSamples() throws -> [SampleBuffer] {
        try SampleStream.make(count: 30).enumerated().map { index, sample in
            let number = index % 10
            let position = number == 0 || number == 9 ? number : number % 2 == 1 ? number + 1 : number - 1
            var sample = sample
            sample.decodeTime = sample.presentationTime
            sample.presentationTime =
                sample.presentationTime + MediaTime(value: Int64(position - number + 1) * 3000, timescale: 90_000)
            return sample
        }
    }

    private func withMovie(_ samples: [SampleBuffer], _ body: (MovieReader) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("seek-\(UUID().uuidString).mp4").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try SampleStream.write(samples, to: path)
        try body(MovieReader(path: path))
    }

    @Test("a movie whose frames are reordered goes back to its first frame", arguments: [0, 5, 30])
    func rewind(count: Int) throws {
        let samples = try reorderedSamples()
        try withMovie(samples) { reader in
            for _ in 0..<count { _ = try reader.nextSample() }
            try reader.rewind()
            var data: [BlockBuffer] = []
            while let sample = try reader.nextSample() { data.append(sample.data) }
            #expect(data == samples.map(\.data))
        }
    }

    @Test(
        "a seek finds the keyframe from which the time can be decoded",
        arguments: [0, 1, 9, 10, 11, 12, 13, 22, 29, 99])
    func seek(frame: Int) throws {
        let samples = try reorderedSamples()
        try withMovie(samples) { reader in
            let first = try #require(try reader.nextSample())
            let time = first.presentationTime + MediaTime(value: Int64(frame) * 3000, timescale: 90_000)
            try reader.seek(to: time)
            let found = try #require(try reader.nextSample())
            #expect(found.isSync)
            #expect(found.presentationTime <= time)
            // The next keyframe is one that is shown later.
            let wanted = samples.last {
                $0.isSync && $0.presentationTime - samples[0].presentationTime <= time - first.presentationTime
            }
            #expect(found.data == wanted?.data)
        }
    }

    @Test("a raw stream, which has no times, is sought at its first frame")
    func rawStream() throws {
        let samples = try SampleStream.make(count: 25)
        try withMovie(samples) { #expect($0.hasPresentationTimes) }
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("seek-\(UUID().uuidString).h264").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        var stream = Data()
        for sample in samples {
            let units =
                sample.format.parameterSets.compactMap { NALUnit($0) }
                + (try LengthPrefixed.nalUnits(in: sample.data.contiguous()))
            stream += Data(AnnexB.encode(units).readableBytesView)
        }
        try stream.write(to: URL(fileURLWithPath: path))
        let reader = try MovieReader(path: path)
        #expect(!reader.hasPresentationTimes)
        for _ in 0..<15 { _ = try reader.nextSample() }
        try reader.seek(to: MediaTime(value: 1, timescale: 2))
        #expect(try reader.nextSample()?.data == samples[0].data)
    }
}
