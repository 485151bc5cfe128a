import COpus
import NIOCore

/// The properties of an Opus packet that are known without decoding it (RFC 6716, 3 and 4.2.3).
enum OpusPacket {
    /// Returns true if the packet carries a coarse copy (LBRR) of the frame before its first.
    static func carriesFEC(_ payload: ByteBuffer) -> Bool {
        payload.withUnsafeReadableBytes { bytes in
            guard let base = bytes.baseAddress, bytes.count > 1 else { return false }
            let data = base.assumingMemoryBound(to: UInt8.self)
            // The CELT modes have no copies.
            guard data[0] & 0x80 == 0 else { return false }
            var sizes = [Int16](repeating: 0, count: 48)
            var offset: Int32 = 0
            let count = opus_packet_parse(data, Int32(clamping: bytes.count), nil, nil, &sizes, &offset)
            guard count > 0, sizes[0] > 0, offset >= 0, Int(offset) < bytes.count else { return false }
            // The first bits of each channel are a voice flag for each 20 ms, then the flag for LBRR.
            let flags = data[Int(offset)]
            let voiceFlags = max(1, opus_packet_get_samples_per_frame(data, 48_000) / 960)
            let middle = flags >> UInt8(7 - min(voiceFlags, 7)) & 1
            guard opus_packet_get_nb_channels(data) == 2 else { return middle == 1 }
            let side = flags >> UInt8(max(0, 6 - 2 * voiceFlags)) & 1
            return middle == 1 || side == 1
        }
    }

    /// The number of samples in one of the packet's frames, which is the time that its FEC covers.
    static func frameSampleCount(of payload: ByteBuffer) -> Int {
        payload.withUnsafeReadableBytes { bytes in
            guard let base = bytes.baseAddress, !bytes.isEmpty else { return 0 }
            return Int(opus_packet_get_samples_per_frame(base.assumingMemoryBound(to: UInt8.self), 48_000))
        }
    }
}
