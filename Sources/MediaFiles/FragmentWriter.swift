public import MediaCore
public import NIOCore

/// Makes the pieces of a live stream in fragmented MP4 (ISO/IEC 14496-12): H.264 with unchanged frames, and AAC. The
/// caller says where a fragment ends. Times are those of the samples, from the first fragment on.
///
/// It is not thread-safe and serves one caller at a time.
public final class FragmentWriter {
    private let muxer: Muxer
    private let bytes = Collected()
    private let videoTrack: Int32
    private let audioTrack: Int32
    private var isEmpty = true
    /// The part before all fragments, without which none can be read.
    public let initialization: ByteBuffer

    private final class Collected: MovieFile {
        var bytes = ByteBuffer()

        func append(_ bytes: ByteBuffer) {
            self.bytes.writeImmutableBuffer(bytes)
        }

        func take() -> ByteBuffer {
            defer { bytes = ByteBuffer() }
            return bytes
        }
    }

    /// - Parameter audio: The configuration of the AAC track, as `AACEncoder` has it.
    /// - Throws: `MediaFileError.cannotCreate`.
    public init(video format: VideoFormatDescription, audio: ByteBuffer) throws(MediaFileError) {
        muxer = try Muxer(path: "stream", file: bytes)
        videoTrack = try muxer.addVideoTrack(format)
        audioTrack = try muxer.addAACTrack(audio)
        try muxer.writeHeaderOfStream()
        initialization = bytes.take()
    }

    /// Adds a frame, in decoding order; those of streams with B-frames need decode times.
    ///
    /// - Throws: `MediaFileError.cannotWrite`.
    public func append(_ sample: SampleBuffer, duration: MediaTime) throws(MediaFileError) {
        isEmpty = false
        try muxer.write(
            sample.data.contiguous(), track: videoTrack, presentationTime: sample.presentationTime,
            decodeTime: sample.decodeTime ?? sample.presentationTime, duration: duration, isSync: sample.isSync,
            isInterleaved: false)
    }

    /// Adds an AAC frame.
    ///
    /// - Throws: `MediaFileError.cannotWrite`.
    public func append(_ packet: AACEncoder.Packet) throws(MediaFileError) {
        isEmpty = false
        try muxer.write(
            packet.data, track: audioTrack, presentationTime: packet.time, decodeTime: packet.time,
            duration: MediaTime(value: Int64(AACEncoder.frameSize), timescale: AACEncoder.sampleRate), isSync: true,
            isInterleaved: false)
    }

    /// Ends the fragment. Returns its bytes; empty if nothing was added.
    ///
    /// - Throws: `MediaFileError.cannotWrite`.
    public func endFragment() throws(MediaFileError) -> ByteBuffer {
        guard !isEmpty else { return ByteBuffer() }
        isEmpty = true
        try muxer.flush()
        return bytes.take()
    }
}
