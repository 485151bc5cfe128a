import COpus
public import MediaCore
public import NIOCore

/// Encodes mono audio at 48 kHz with Opus.
///
/// The mode is for speech (`OPUS_APPLICATION_VOIP`): its hybrid modes carry in-band FEC, which the music modes do not.
/// An encoder belongs to one caller at a time.
public final class OpusEncoder {
    /// The rates that Opus has.
    public static let bitRates = BitRate.kilobits(6)...BitRate.kilobits(510)
    /// The largest Opus packet of one frame (RFC 6716, 3.2.1), with its table-of-contents byte.
    static let maximumPacketSize = 1276

    /// A packet of 20 ms of silence in one channel: the music modes have a flag for it (RFC 6716, 4.3).
    ///
    /// A packet without audio (DTX) would have the decoder conceal a loss: it adds noise, and the next 60 ms of audio
    /// are too quiet.
    public static let silence = ByteBuffer(bytes: [0xF8, 0xFF, 0xFE])

    public private(set) var settings: AudioEncoderSettings
    private let encoder: OpaquePointer
    private var scratch: [UInt8]

    /// - Throws: `OpusError.library` when libopus has no memory or does not know a setting.
    public init(settings: AudioEncoderSettings = AudioEncoderSettings()) throws(OpusError) {
        var code: Int32 = OPUS_OK
        guard
            let encoder = opus_encoder_create(
                Int32(AudioFormat.sampleRate), 1, OPUS_APPLICATION_VOIP, &code), code == OPUS_OK
        else { throw .library(code: code) }
        self.encoder = encoder
        self.settings = settings
        scratch = [UInt8](repeating: 0, count: Self.maximumPacketSize)
        try set(OPUS_SET_COMPLEXITY_REQUEST, Int32(min(max(settings.complexity, 0), 10)))
        try set(OPUS_SET_INBAND_FEC_REQUEST, settings.usesInBandFEC ? 1 : 0)
        try set(OPUS_SET_DTX_REQUEST, settings.usesDTX ? 1 : 0)
        try set(OPUS_SET_VBR_REQUEST, 1)
        try set(OPUS_SET_BITRATE_REQUEST, Self.libraryValue(settings.bitRate))
        try set(OPUS_SET_PACKET_LOSS_PERC_REQUEST, Self.percentage(settings.expectedPacketLoss))
    }

    deinit {
        opus_encoder_destroy(encoder)
    }

    /// Changes the average rate from the next frame on.
    public func setBitRate(_ rate: BitRate) {
        guard rate != settings.bitRate else { return }
        settings.bitRate = rate
        // The value is within the range that the library documents, so it does not fail.
        _ = opus_encoder_set(encoder, OPUS_SET_BITRATE_REQUEST, Self.libraryValue(rate))
    }

    /// Changes the expected loss (0 to 1) from the next frame on.
    public func setExpectedPacketLoss(_ fraction: Double) {
        guard fraction != settings.expectedPacketLoss else { return }
        settings.expectedPacketLoss = fraction
        _ = opus_encoder_set(encoder, OPUS_SET_PACKET_LOSS_PERC_REQUEST, Self.percentage(fraction))
    }

    /// Encodes one frame: 2.5, 5, 10, 20, 40 or 60 ms of samples from -1 to 1.
    ///
    /// - Parameter needsLittleBefore: True to suit a decoder that has heard another encoder before. The packet then
    ///   predicts almost nothing from earlier frames, which costs bits.
    /// - Returns: One Opus packet. With DTX, a packet of at most two bytes need not be sent.
    public func encode(_ samples: [Float], needsLittleBefore: Bool = false) throws(OpusError) -> ByteBuffer {
        guard [120, 240, 480, 960, 1920, 2880].contains(samples.count) else {
            throw .unsupportedFrameSize(samples: samples.count)
        }
        if needsLittleBefore { try set(OPUS_SET_PREDICTION_DISABLED_REQUEST, 1) }
        defer {
            if needsLittleBefore { _ = opus_encoder_set(encoder, OPUS_SET_PREDICTION_DISABLED_REQUEST, 0) }
        }
        let size = scratch.withUnsafeMutableBufferPointer { output in
            samples.withUnsafeBufferPointer { input -> Int32 in
                guard let source = input.baseAddress, let destination = output.baseAddress else { return OPUS_BAD_ARG }
                return opus_encode_float(
                    encoder, source, Int32(input.count), destination, Int32(output.count))
            }
        }
        guard size > 0 else { throw .library(code: size) }
        return ByteBuffer(bytes: scratch[..<Int(size)])
    }

    private func set(_ request: Int32, _ value: Int32) throws(OpusError) {
        let code = opus_encoder_set(encoder, request, value)
        guard code == OPUS_OK else { throw .library(code: code) }
    }

    private static func libraryValue(_ rate: BitRate) -> Int32 {
        Int32(clamping: rate.clamped(to: bitRates).bitsPerSecond)
    }

    private static func percentage(_ fraction: Double) -> Int32 {
        fraction > 0 ? Int32(clamping: (min(fraction, 1) * 100).rounded()) : 0
    }
}
