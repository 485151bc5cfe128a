public import MediaCore
public import NIOCore

/// Reads the Opus packets of a movie file. Other streams are skipped. Not thread-safe: one caller at a time.
public final class OpusReader {
    /// One packet.
    public struct Packet: Sendable {
        public var payload: ByteBuffer
        /// The time at which the packet is played, if the container says it.
        public var presentationTime: MediaTime?
    }

    private let demuxer: Demuxer

    /// - Throws: `MediaFileError` if the file cannot be opened or has no Opus stream.
    public init(path: String) throws(MediaFileError) {
        demuxer = try Demuxer(path: path, kind: .opus)
    }

    /// The next packet; nil at the end of the file.
    ///
    /// - Throws: `MediaFileError.malformed`.
    public func nextPacket() throws(MediaFileError) -> Packet? {
        try demuxer.nextPacket().map { Packet(payload: $0.data, presentationTime: $0.presentationTime) }
    }
}
