import Foundation
import H264
import MediaCore
import NIOCore
import Testing

@testable import MediaFiles

/// A file's path that is removed when the test is over.
final class TemporaryFile {
    let path: String

    init(_ suffix: String, contents: [UInt8]? = nil) {
        path =
            FileManager.default.temporaryDirectory
            .appendingPathComponent("confrelay-\(UUID().uuidString)\(suffix)").path
        if let contents { _ = FileManager.default.createFile(atPath: path, contents: Data(contents)) }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    var contents: [UInt8] { FileManager.default.contents(atPath: path).map { [UInt8]($0) } ?? [] }
}

/// A movie of some frames, and a reader at its beginning.
private struct WrittenMovie {
    let file = TemporaryFile(".mp4")
    let samples: [SampleBuffer]
    let writer: MovieWriter
    let reader: MovieReader

    init(_ samples: [SampleBuffer], layout: MovieWriter.Layout = .indexAtEnd) throws {
        self.samples = samples
        writer = try SampleStream.write(samples, to: file.path, layout: layout)
        reader = try MovieReader(path: file.path)
    }

    /// All frames that have not been read.
    func rest() throws -> [SampleBuffer] {
        var rest: [SampleBuffer] = []
        while let sample = try reader.nextSample() { rest.append(sample) }
        return rest
    }
}

/// Frames as FLV, which has parameter sets beside its samples, and anew where they change (Adobe Flash Video File
/// Format Specification 10.1, annex E).
private struct FlashVideo {
    private(set) var bytes = ByteBuffer(bytes: Array("FLV".utf8) + [1, 1, 0, 0, 0, 9, 0, 0, 0, 0])

    init(_ samples: [SampleBuffer]) {
        var format: VideoFormatDescription?
        for sample in samples {
            let time = UInt32(clamping: sample.presentationTime.converted(toTimescale: 1000).value)
            if sample.format != format {
                let record = AVCDecoderConfigurationRecord(format: sample.format)
                append(record.encode(), at: time, isKeyframe: true, packetType: 0)
                format = sample.format
            }
            append(sample.data.contiguous(), at: time, isKeyframe: sample.isSync, packetType: 1)
        }
    }

    private mutating func append(_ data: ByteBuffer, at time: UInt32, isKeyframe: Bool, packetType: UInt8) {
        let size = UInt32(clamping: data.readableBytes + 5)
        bytes.writeInteger(9 << 24 | size)
        bytes.writeInteger(time << 8)
        let head: [UInt8] = [0, 0, 0, isKeyframe ? 0x17 : 0x27, packetType, 0, 0, 0]
        bytes.writeBytes(head)
        bytes.writeImmutableBuffer(data)
        bytes.writeInteger(size + 11)
    }
}

@Suite("Movie files")
struct MovieRoundTripTests {
    private func presentationTimes(in file: TemporaryFile) throws -> [MediaTime] {
        let reader = try MovieReader(path: file.path)
        var times: [MediaTime] = []
        while let sample = try reader.nextSample() { times.append(sample.presentationTime) }
        return times
    }

    @Test(
        "frames come back from a movie as they were written",
        arguments: [MovieWriter.Layout.indexAtEnd, .fragmented(every: .milliseconds(100))])
    func roundTrip(layout: MovieWriter.Layout) throws {
        let movie = try WrittenMovie(SampleStream.make(count: 50), layout: layout)
        #expect(movie.writer.videoSampleCount == 50)
        #expect(movie.reader.format == movie.samples[0].format)
        let read = try movie.rest()
        #expect(read.map(\.data) == movie.samples.map(\.data))
        #expect(read.map(\.isSync) == movie.samples.map(\.isSync))
        #expect(read.map(\.presentationTime) == movie.samples.map(\.presentationTime))
    }

    @Test(
        "the last frame is there though nobody said how long it is shown",
        arguments: [MovieWriter.Layout.indexAtEnd, .fragmented(every: .seconds(1))])
    func lastFrameWithoutDuration(layout: MovieWriter.Layout) throws {
        var samples = try SampleStream.make(count: 7)
        for index in samples.indices { samples[index].duration = nil }
        #expect(try WrittenMovie(samples, layout: layout).rest().count == 7)
    }

    /// Frames of which the last comes at ten seconds, and a movie of them that was flushed during the pause before it.
    private func movieWithPause() throws -> (samples: [SampleBuffer], file: TemporaryFile) {
        var samples = try SampleStream.make(count: 5)
        for index in samples.indices { samples[index].duration = nil }
        samples[4].presentationTime = MediaTime(value: 10, timescale: 1)
        let file = TemporaryFile(".mp4")
        let writer = try MovieWriter(path: file.path, video: samples[0].format)
        for sample in samples.dropLast() { try writer.append(sample) }
        try writer.flush()
        try writer.append(samples[4])
        try writer.finish()
        return (samples, file)
    }

    @Test("a frame that comes after a pause keeps its time")
    func timeAfterPause() throws {
        let (samples, file) = try movieWithPause()
        #expect(try presentationTimes(in: file) == samples.map(\.presentationTime))
    }

    @Test("a last frame that comes after a pause is not shown for as long as the pause")
    func durationAfterPause() throws {
        let file = try movieWithPause().file
        #expect(try withExtendedLifetime(file) { try MovieReader(path: file.path).duration } == .seconds(11))
    }

    @Test("a movie read again starts with its first frame")
    func rewind() throws {
        let movie = try WrittenMovie(SampleStream.make(count: 10))
        _ = try movie.rest()
        try movie.reader.rewind()
        #expect(try movie.reader.nextSample()?.data == movie.samples[0].data)
    }

    @Test("a raw H.264 stream is read frame by frame, and read again")
    func rawStream() throws {
        let samples = try SampleStream.make(count: 20)
        var stream: [UInt8] = []
        for sample in samples {
            var units = try LengthPrefixed.nalUnits(in: sample.data.contiguous())
            if sample.isSync { units = sample.format.parameterSets.compactMap { NALUnit($0) } + units }
            stream += Array(AnnexB.encode(units).readableBytesView)
        }
        let file = TemporaryFile(".h264", contents: stream)
        let reader = try MovieReader(path: file.path)
        var count = 0
        while let sample = try reader.nextSample() {
            #expect(sample.data == samples[count].data)
            count += 1
        }
        #expect(count == 20)
        try reader.rewind()
        #expect(try reader.nextSample()?.isSync == true)
    }

    @Test("audio is written beside the video")
    func audioTrack() throws {
        let file = TemporaryFile(".mp4")
        let samples = try SampleStream.make(count: 30)
        let writer = try MovieWriter(
            path: file.path, video: samples[0].format, audio: .init(), layout: .indexAtEnd)
        for (index, sample) in samples.enumerated() {
            try writer.append(sample)
            let time = MediaTime(value: Int64(index) * 960, timescale: 48_000)
            try writer.append(
                opus: ByteBuffer(bytes: [0xF8, 0xFF, 0xFE]), presentationTime: time,
                duration: MediaTime(value: 960, timescale: 48_000))
        }
        try writer.finish()
        #expect(writer.audioPacketCount == 30)
        // The sample entry of RFC 7845's encapsulation in ISO media files.
        let contents = file.contents
        #expect(contents.contains(sequence: Array("Opus".utf8)))
        #expect(contents.contains(sequence: Array("dOps".utf8)))
        #expect(try MovieReader(path: file.path).format == samples[0].format)
    }

    @Test("a change of parameter sets comes back as a change of format")
    func formatChange() throws {
        let first = try SampleStream.make(count: 5)
        let second = try SampleStream.make(count: 5, width: 20, height: 12, startingAt: 5)
        let sizes = try WrittenMovie(first + second).rest().map(\.format.dimensions)
        #expect(sizes == first.map(\.format.dimensions) + second.map(\.format.dimensions))
        #expect(Set(sizes).count == 2)
    }

    @Test("parameter sets that a container has anew beside its samples come back as a change of format")
    func formatChangeBesideSamples() throws {
        let first = try SampleStream.make(count: 20)
        let second = try SampleStream.make(count: 20, width: 20, height: 12, startingAt: 20)
        let file = TemporaryFile(".flv", contents: Array(FlashVideo(first + second).bytes.readableBytesView))
        let reader = try MovieReader(path: file.path)
        func rest() throws -> [VideoDimensions] {
            var sizes: [VideoDimensions] = []
            while let sample = try reader.nextSample() { sizes.append(sample.format.dimensions) }
            return sizes
        }
        let sizes = (first + second).map(\.format.dimensions)
        #expect(try rest() == sizes)
        try reader.rewind()
        #expect(try rest() == sizes)
        try reader.seek(to: second[15].presentationTime)
        #expect(try rest() == Array(sizes.suffix(10)))
        try reader.seek(to: first[15].presentationTime)
        #expect(try rest() == Array(sizes.suffix(30)))
    }

    @Test("a movie whose format changes has its first format when it is read again, or sought at its beginning")
    func formatAfterJump() throws {
        let first = try SampleStream.make(count: 10)
        let second = try SampleStream.make(count: 10, width: 20, height: 12, startingAt: 10)
        let movie = try WrittenMovie(first + second)
        let sizes = movie.samples.map(\.format.dimensions)
        func rest() throws -> [VideoDimensions] { try movie.rest().map(\.format.dimensions) }
        #expect(try rest() == sizes)
        try movie.reader.rewind()
        #expect(try rest() == sizes)
        try movie.reader.seek(to: first[5].presentationTime)
        #expect(try rest() == sizes)
        try movie.reader.seek(to: second[5].presentationTime)
        #expect(try rest() == second.map(\.format.dimensions))
    }

    @Test("behind a change of format each keyframe has its parameter sets with it, also those of the header")
    func formatThatComesBack() throws {
        let samples =
            try SampleStream.make(count: 10) + SampleStream.make(count: 10, width: 20, height: 12, startingAt: 10)
            + SampleStream.make(count: 20, startingAt: 20)
        let movie = try WrittenMovie(samples)
        #expect(try movie.rest().map(\.format.dimensions) == samples.map(\.format.dimensions))
        let demuxer = try Demuxer(path: movie.file.path)
        var keyframesHaveSets: [Bool] = []
        while let packet = try demuxer.nextPacket() {
            let units = try demuxer.nalUnits(in: packet.data)
            guard units.contains(where: { $0.type == .codedSliceIDR }) else { continue }
            keyframesHaveSets.append(units.contains(where: \.isParameterSet))
        }
        #expect(keyframesHaveSets == [false, true, true, true])
    }

    @Test("a frame that is refused does not take the change of format with it")
    func formatChangeRefused() throws {
        let first = try SampleStream.make(count: 5)
        let second = try SampleStream.make(count: 5, width: 20, height: 12, startingAt: 5)
        let file = TemporaryFile(".mp4")
        let writer = try MovieWriter(path: file.path, video: first[0].format)
        for sample in first { try writer.append(sample) }
        var timeless = second[0]
        timeless.presentationTime = .invalid
        #expect(throws: MediaFileError.self) { try writer.append(timeless) }
        for sample in second.dropFirst() { try writer.append(sample) }
        try writer.finish()
        let reader = try MovieReader(path: file.path)
        var sizes: [VideoDimensions] = []
        while let sample = try reader.nextSample() { sizes.append(sample.format.dimensions) }
        #expect(sizes == (first + second.dropFirst()).map(\.format.dimensions))
    }

    @Test("frames with equal times are written one after the other")
    func equalTimes() throws {
        var samples = try SampleStream.make(count: 3)
        for index in samples.indices { samples[index].presentationTime = .zero }
        let times = try WrittenMovie(samples).rest().map(\.presentationTime)
        #expect(times.count == 3)
        #expect(times[0] < times[1] && times[1] < times[2])
    }

    @Test("errors name the file and the reason")
    func errors() throws {
        let missing = "/nonexistent/movie.mp4"
        #expect(throws: MediaFileError.cannotOpen(path: missing, reason: "No such file or directory")) {
            try MovieReader(path: missing)
        }
        let format = try SampleStream.make(count: 1)[0].format
        let error = #expect(throws: MediaFileError.self) { try MovieWriter(path: missing, video: format) }
        #expect(error?.description == "cannot create /nonexistent/movie.mp4: No such file or directory")
        let text = TemporaryFile(".mp4", contents: Array("this is no movie at all".utf8))
        #expect(throws: MediaFileError.self) { try MovieReader(path: text.path) }
    }

    @Test("a path is never taken for another protocol")
    func noProtocols() {
        let error = #expect(throws: MediaFileError.self) { try MovieReader(path: "concat:a|b") }
        #expect(error == .cannotOpen(path: "concat:a|b", reason: "No such file or directory"))
    }

    @Test("a finished movie takes nothing more, and audio needs a track")
    func misuse() throws {
        let file = TemporaryFile(".mp4")
        let sample = try SampleStream.make(count: 1)[0]
        let writer = try MovieWriter(path: file.path, video: sample.format)
        #expect(throws: MediaFileError.misuse(path: file.path, reason: "the movie has no audio track")) {
            try writer.append(opus: ByteBuffer(bytes: [1]), presentationTime: .zero)
        }
        try writer.append(sample)
        try writer.finish()
        try writer.finish()
        #expect(throws: MediaFileError.misuse(path: file.path, reason: "the movie is finished")) {
            try writer.append(sample)
        }
    }

    @Test(
        "a sample without a numeric time is refused, and the movie goes on without it",
        arguments: [MediaTime.invalid, .indefinite, .positiveInfinity, .negativeInfinity])
    func unknownTime(time: MediaTime) throws {
        let file = TemporaryFile(".mp4")
        let samples = try SampleStream.make(count: 4)
        let writer = try MovieWriter(path: file.path, video: samples[0].format, layout: .indexAtEnd)
        for sample in samples.prefix(2) { try writer.append(sample) }
        var lost = samples[2]
        lost.presentationTime = time
        lost.decodeTime = nil
        #expect(throws: MediaFileError.self) { try writer.append(lost) }
        try writer.append(samples[3])
        try writer.finish()
        #expect(try presentationTimes(in: file) == [0, 1, 3].map { samples[$0].presentationTime })
    }

    @Test(
        "a sample that is later than MP4 can say is refused, and the movie goes on without it",
        arguments: [MovieWriter.Layout.indexAtEnd, .fragmented(every: .seconds(1))])
    func longGap(layout: MovieWriter.Layout) throws {
        let file = TemporaryFile(".mp4")
        let samples = try SampleStream.make(count: 4)
        let writer = try MovieWriter(path: file.path, video: samples[0].format, layout: layout)
        for sample in samples.prefix(2) { try writer.append(sample) }
        var late = samples[2]
        late.presentationTime = MediaTime(value: 7 * 3600, timescale: 1)
        let error = #expect(throws: MediaFileError.self) { try writer.append(late) }
        #expect(error?.description.contains("begin another file") == true)
        try writer.append(samples[3])
        try writer.finish()
        #expect(try presentationTimes(in: file) == [0, 1, 3].map { samples[$0].presentationTime })
    }

    @Test("audio of a fragmented movie stays where it is beside the pictures, also if one begins later")
    func lateAudio() throws {
        let file = TemporaryFile(".mp4")
        let samples = try SampleStream.make(count: 60)
        let writer = try MovieWriter(path: file.path, video: samples[0].format, audio: MovieWriter.OpusTrack())
        for (index, sample) in samples.enumerated() {
            try writer.append(sample)
            guard index >= 30 else { continue }
            try writer.append(
                opus: ByteBuffer(bytes: [0xF8, 0xFF, 0xFE]), presentationTime: sample.presentationTime,
                duration: MediaTime(value: 960, timescale: 48_000))
        }
        try writer.finish()
        #expect(try OpusReader(path: file.path).nextPacket()?.presentationTime?.seconds == 1)
        #expect(try MovieReader(path: file.path).nextSample()?.presentationTime == .zero)
    }

    @Test("a last sample of unknown duration lasts as long as the one before", arguments: [nil, MediaTime.indefinite])
    func unknownDuration(duration: MediaTime?) throws {
        let file = TemporaryFile(".mp4")
        var samples = try SampleStream.make(count: 3)
        for index in samples.indices { samples[index].duration = duration }
        let writer = try MovieWriter(path: file.path, video: samples[0].format, layout: .indexAtEnd)
        for sample in samples { try writer.append(sample) }
        try writer.finish()
        #expect(try MovieReader(path: file.path).duration == .milliseconds(100))
    }
}

extension [UInt8] {
    func contains(sequence: [UInt8]) -> Bool {
        guard count >= sequence.count else { return false }
        return (0...(count - sequence.count)).contains { Array(self[$0..<($0 + sequence.count)]) == sequence }
    }
}
