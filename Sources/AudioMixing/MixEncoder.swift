import MediaCore
import NIOCore

/// An encoder of one mix, for one or many listeners.
///
/// Its packets follow its own or those of another encoder of nearly the same audio; the first packet after a change
/// depends little on earlier ones. An encoder belongs to one caller at a time.
final class MixEncoder {
    /// After this many silent frames neither the encoder nor a decoder holds any of the audio before them, and the
    /// packet of silence takes the place of encoded frames.
    private static let settledSilence = 10

    private let encoder: OpusEncoder
    private var silentFrames = 0
    /// The tick of the newest packet.
    private(set) var tick: Int64 = .min
    /// True if a listener changes to this encoder with its next packet.
    var isJoined = false
    /// The newest packet; nil if encoding failed.
    private(set) var packet: EncodedAudio?

    init(settings: AudioEncoderSettings) throws(OpusError) {
        encoder = try OpusEncoder(settings: settings)
    }

    func apply(_ settings: AudioEncoderSettings) {
        encoder.setBitRate(settings.bitRate)
        encoder.setExpectedPacketLoss(settings.expectedPacketLoss)
    }

    /// Makes the packet of a tick.
    ///
    /// - Parameters:
    ///   - frame: The mix.
    ///   - level: The mix's level; nil if nobody is in it.
    ///   - previous: The audio that the listeners heard in the tick before. It starts up an encoder that did not run in
    ///     that tick.
    func encode(_ frame: [Float], level: AudioLevel?, previous: [Float], tick: Int64) throws(OpusError) {
        packet = nil
        let isContinued = self.tick == tick - 1
        self.tick = tick
        guard let level else {
            if isJoined || !isContinued { silentFrames = 0 }
            var payload = OpusEncoder.silence
            if silentFrames < Self.settledSilence {
                silentFrames += 1
                payload = try encodeNext(frame, previous: previous, isContinued: isContinued)
            }
            packet = EncodedAudio(payload: payload, level: .silence)
            return
        }
        // The decoders heard the packet of silence, which the encoder did not make.
        if silentFrames == Self.settledSilence { isJoined = true }
        silentFrames = 0
        packet = EncodedAudio(
            payload: try encodeNext(frame, previous: previous, isContinued: isContinued), level: level)
    }

    private func encodeNext(
        _ frame: [Float], previous: [Float], isContinued: Bool
    ) throws(OpusError) -> ByteBuffer {
        if !isContinued { _ = try encoder.encode(previous) }
        let payload = try encoder.encode(frame, needsLittleBefore: isJoined || !isContinued)
        isJoined = false
        return payload
    }
}
