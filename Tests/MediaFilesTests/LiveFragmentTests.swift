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
}
