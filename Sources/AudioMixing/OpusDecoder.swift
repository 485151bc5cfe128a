import COpus
public import NIOCore

/// Decodes Opus to mono audio at 48 kHz.
///
/// libopus mixes stereo down. Every call gives exactly the stated duration, whatever the packets are. A decoder belongs
/// to one caller at a time.
public final class OpusDecoder {
    /// The longest packet that Opus has: 120 ms (RFC 6716, 3.2.5).
    public static let maximumSampleCount = 5760

    private let decoder: OpaquePointer

    /// - Throws: `OpusError.library` when libopus has no memory.
    public init() throws(OpusError) {
        var code: Int32 = OPUS_OK
        guard let decoder = opus_decoder_create(Int32(AudioFormat.sampleRate), 1, &code), code == OPUS_OK else {
            throw .library(code: code)
        }
        self.decoder = decoder
    }

    deinit {
        opus_decoder_destroy(decoder)
    }

    /// The number of samples (at 48 kHz) in `payload`; nil if it is not an Opus packet.
    public static func sampleCount(of payload: ByteBuffer) -> Int? {
        let count = payload.withUnsafeReadableBytes { bytes -> Int32 in
            guard let base = bytes.baseAddress, !bytes.isEmpty else { return OPUS_INVALID_PACKET }
            return opus_packet_get_nb_samples(
                base.assumingMemoryBound(to: UInt8.self), Int32(clamping: bytes.count),
                Int32(AudioFormat.sampleRate))
        }
        return count > 0 ? Int(count) : nil
    }

    /// Decodes a packet to samples from -1 to 1.
    public func decode(_ payload: ByteBuffer) throws(OpusError) -> [Float] {
        guard let count = Self.sampleCount(of: payload) else { throw .malformedPacket }
        return try samples(count) { (output) throws(OpusError) in try decode(payload, into: output) }
    }

    /// Decodes the copy of a lost packet that `next` carries; conceals if `next` has none. `sampleCount` is a multiple
    /// of 120 (2.5 ms) up to 5760.
    public func recover(sampleCount: Int, from next: ByteBuffer) throws(OpusError) -> [Float] {
        try samples(sampleCount) { (output) throws(OpusError) in try recover(from: next, into: output) }
    }

    /// Continues with made-up audio, which fades away. `sampleCount` is a multiple of 480 (10 ms) up to 5760.
    public func conceal(sampleCount: Int) throws(OpusError) -> [Float] {
        try samples(sampleCount) { (output) throws(OpusError) in try conceal(into: output) }
    }

    /// Forgets the stream, before another one begins.
    public func reset() {
        _ = opus_decoder_reset(decoder)
    }

    /// Decodes `payload` to the start of `output`. Returns the number of samples.
    func decode(_ payload: ByteBuffer, into output: UnsafeMutableBufferPointer<Float>) throws(OpusError) -> Int {
        guard payload.readableBytes > 0 else { throw .malformedPacket }
        return try call(payload: payload, output: output, isFEC: 0)
    }

    /// Conceals as many samples as `output` holds, a multiple of 480 (10 ms).
    func conceal(into output: UnsafeMutableBufferPointer<Float>) throws(OpusError) -> Int {
        try call(payload: nil, output: output, isFEC: 0)
    }

    /// Fills `output`, a multiple of 120 samples, with the copy that `next` carries of the time before it.
    func recover(
        from next: ByteBuffer, into output: UnsafeMutableBufferPointer<Float>
    ) throws(OpusError) -> Int {
        guard next.readableBytes > 0 else { throw .malformedPacket }
        return try call(payload: next, output: output, isFEC: 1)
    }

    private func call(
        payload: ByteBuffer?, output: UnsafeMutableBufferPointer<Float>, isFEC: Int32
    ) throws(OpusError) -> Int {
        guard let start = output.baseAddress else { throw .unsupportedFrameSize(samples: 0) }
        let capacity = Int32(clamping: output.count)
        let count =
            payload?.withUnsafeReadableBytes { bytes in
                opus_decode_float(
                    decoder, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(clamping: bytes.count),
                    start, capacity, isFEC)
            } ?? opus_decode_float(decoder, nil, 0, start, capacity, 0)
        if count == OPUS_INVALID_PACKET { throw .malformedPacket }
        guard count > 0 else { throw .library(code: count) }
        Self.bound(UnsafeMutableBufferPointer(rebasing: output[..<Int(count)]))
        return Int(count)
    }

    /// Limits samples to -1 to 1: a hostile packet can decode to anything, and one bad sample would spoil every sum.
    private static func bound(_ samples: UnsafeMutableBufferPointer<Float>) {
        for index in samples.indices {
            let sample = samples[index]
            // NaN fails both comparisons and becomes zero.
            samples[index] = sample >= -1 ? (sample <= 1 ? sample : 1) : (sample < -1 ? -1 : 0)
        }
    }

    private func samples(
        _ count: Int, _ body: (UnsafeMutableBufferPointer<Float>) throws(OpusError) -> Int
    ) throws(OpusError) -> [Float] {
        guard count > 0, count <= Self.maximumSampleCount else { throw .unsupportedFrameSize(samples: count) }
        var result = [Float](repeating: 0, count: count)
        var outcome: Result<Int, OpusError> = .success(0)
        result.withUnsafeMutableBufferPointer { output in
            do throws(OpusError) {
                outcome = .success(try body(output))
            } catch {
                outcome = .failure(error)
            }
        }
        result.removeLast(count - min(count, try outcome.get()))
        return result
    }
}
