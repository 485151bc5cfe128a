import MediaCore
import NIOCore
import Testing

@testable import MediaFiles

/// The fragments of a live stream, which may go on for months.
@Suite struct LiveFragmentTests {
    private final class Collected: MovieFile {
        var bytes = ByteBuffer()

        func append(_ bytes: ByteBuffer) { self.bytes.writeImmutableBuffer(bytes) }
    }

    @Test("a live stream keeps no index of its fragments, for which nobody would ask")
    func index() throws {
        let file = Collected()
        let samples = try SampleStream.make(count: 30)
        let muxer = try Muxer(path: "stream", file: file)
        let track = try muxer.addVideoTrack(samples[0].format)
        try muxer.writeHeaderOfStream()
        for sample in samples {
            try muxer.write(
                sample.data.contiguous(), track: track, presentationTime: sample.presentationTime,
                decodeTime: sample.presentationTime, duration: sample.duration, isSync: sample.isSync,
                isInterleaved: false)
            try muxer.flush()
        }
        try muxer.finish()
        let text = String(decoding: file.bytes.readableBytesView, as: UTF8.self)
        #expect(text.contains("moof"))
        #expect(!text.contains("mfra"))
    }

    @Test("frames that are shown in another order than they are decoded keep their times")
    func reordering() throws {
        let tick = MediaTime(value: 3000, timescale: 90_000)
        // Between two keyframes each second frame is shown before the one before it.
        let samples = try SampleStream.make(count: 30).enumerated().map { index, sample in
            let number = index % 10
            let ticks: Int64 = number == 0 || number == 9 ? 1 : number % 2 == 1 ? 2 : 0
            var sample = sample
            sample.decodeTime = sample.presentationTime
            sample.presentationTime = sample.presentationTime + tick.multiplied(by: ticks)
            return sample
        }
        let writer = try FragmentWriter(video: samples[0].format, audio: AACEncoder().configuration)
        var bytes = writer.initialization
        for sample in samples {
            if sample.isSync { bytes.writeImmutableBuffer(try writer.endFragment()) }
            try writer.append(sample, duration: tick)
        }
        bytes.writeImmutableBuffer(try writer.endFragment())
        let file = TemporaryFile(".mp4", contents: Array(bytes.readableBytesView))
        let reader = try MovieReader(path: file.path)
        for sample in samples {
            let read = try #require(try reader.nextSample())
            #expect(read.data == sample.data)
            #expect(read.presentationTime == sample.presentationTime)
            #expect(read.decodeTime == sample.decodeTime)
        }
        #expect(try reader.nextSample() == nil)
    }
}
