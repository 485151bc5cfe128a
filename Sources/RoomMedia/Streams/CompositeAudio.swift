import AudioMixing
import MediaCore
import MediaFiles
import NIOCore

/// Makes AAC of a composite's audio, for players without Opus. Belongs to one thread.
final class CompositeAudio {
    static let bitRate = BitRate.kilobits(96)

    private let decoder: OpusDecoder
    private let encoder: AACEncoder

    /// - Throws: `OpusError` or `MediaFileError`: there is no decoder or encoder.
    init() throws {
        decoder = try OpusDecoder()
        encoder = try AACEncoder(bitRate: Self.bitRate)
    }

    /// The configuration of the AAC track.
    var configuration: ByteBuffer { encoder.configuration }

    /// Takes an Opus packet, and hands out the AAC frames that are complete with it. A damaged packet is left out.
    ///
    /// - Throws: `MediaFileError`.
    func encode(_ packet: BlockBuffer, at time: MediaTime) throws -> [AACEncoder.Packet] {
        guard let samples = try? decoder.decode(packet.contiguous()) else { return [] }
        return try encoder.encode(samples, at: time)
    }
}
