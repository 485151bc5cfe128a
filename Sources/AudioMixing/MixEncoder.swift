import MediaCore
import NIOCore

/// An encoder of one mix, for one or many listeners.
///
/// Its packets follow its own or those of another encoder of nearly the same audio; the first packet after a change
/// depends little on earlier ones. An encoder belongs to one caller at a time.
final class MixEncoder {
    /// After this many silent frames encoder and decoders have settled, and packets without audio are enough.
    private static let settledSilence = 10

    private let encoder: OpusEncoder
    private var silentFrames = 0
    private var lastPayload = ByteBuffer()
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
    ///   - previous: What the listeners heard in the tick before. It starts up an encoder that did not run in that tick.
    func encode(_ frame: [Float], level: AudioLevel?, previous: [Float], tick: Int64) throws(OpusError) {
        packet = nil
        let isContinued = self.tick == tick - 1
        self.tick = tick
        let usesDTX = encoder.settings.usesDTX
        guard let level else {
            if isJoined || !isContinued { silentFrames = 0 }
            if silentFrames < Self.settledSilence {
                silentFrames += 1
                lastPayload = try encodeNext(frame, previous: previous, isContinued: isContinued)
            } else if lastPayload.readableBytes > 1 {
                lastPayload = OpusPacket.withoutAudio(like: lastPayload)
            }
            packet = EncodedAudio(
                payload: lastPayload, level: .silence, maySkip: usesDTX && lastPayload.readableBytes <= 2)
            return
        }
        silentFrames = 0
        let payload = try encodeNext(frame, previous: previous, isContinued: isContinued)
        packet = EncodedAudio(payload: payload, level: level, maySkip: usesDTX && payload.readableBytes <= 2)
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
