public import MediaCore
public import NIOCore

/// Sends a live stream to a server: H.264 with unchanged frames, and AAC.
///
/// All calls may wait for the network, until the caller's `isAbandoned` says that the wait is too long. It is not
/// thread-safe and serves one caller at a time.
public final class StreamWriter {
    private let muxer: Muxer
    private let videoTrack: Int32
    private let audioTrack: Int32

    /// A connection on which nothing is sent yet.
    public final class Connection {
        fileprivate let muxer: Muxer

        /// Connects to the server.
        ///
        /// - Parameter isAbandoned: Is asked, about ten times a second while libavformat waits, whether to give up.
        public init(
            to destination: StreamDestination, isAbandoned: @escaping @Sendable () -> Bool
        ) throws(StreamFailure) {
            muxer = try Muxer(to: destination, isAbandoned: isAbandoned)
        }
    }

    /// Begins the stream.
    ///
    /// - Parameter audio: The configuration of the AAC track, as `AACEncoder` has it.
    public init(
        on connection: Connection, video format: VideoFormatDescription, audio: ByteBuffer
    ) throws(StreamFailure) {
        muxer = connection.muxer
        do throws(MediaFileError) {
            videoTrack = try muxer.addVideoTrack(format)
            audioTrack = try muxer.addAACTrack(audio)
            try muxer.writeHeaderOfBroadcast()
        } catch {
            throw StreamFailure(error, status: muxer.lastError)
        }
    }

    /// Adds a frame. Times count from the first frame, which is a keyframe.
    public func append(_ sample: SampleBuffer) throws(StreamFailure) {
        do throws(MediaFileError) {
            try muxer.write(
                sample.data.contiguous(), track: videoTrack, presentationTime: sample.presentationTime,
                decodeTime: sample.decodeTime ?? sample.presentationTime, duration: nil, isSync: sample.isSync)
        } catch {
            throw StreamFailure(error, status: muxer.lastError)
        }
    }

    /// Adds an AAC frame.
    public func append(_ packet: AACEncoder.Packet) throws(StreamFailure) {
        do throws(MediaFileError) {
            try muxer.write(
                packet.data, track: audioTrack, presentationTime: packet.time, decodeTime: packet.time,
                duration: MediaTime(value: Int64(AACEncoder.frameSize), timescale: AACEncoder.sampleRate),
                isSync: true)
        } catch {
            throw StreamFailure(error, status: muxer.lastError)
        }
    }

    /// The bytes sent so far.
    public var bytesWritten: Int64 { muxer.bytesWritten }

    /// Tells the server that the stream is over, and closes the connection. A stream that is released
    /// without it closes the connection at once, because its server may be the one that does not answer.
    public func finish() throws(StreamFailure) {
        do throws(MediaFileError) {
            try muxer.finish()
        } catch {
            throw StreamFailure(error, status: muxer.lastError)
        }
    }
}
