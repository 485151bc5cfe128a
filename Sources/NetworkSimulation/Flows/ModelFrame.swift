import H264
import MediaCore
import NIOCore

/// Makes the bytes of frames of which only the size is known: slices that each fill a packet, as an encoder makes them
/// that knows the packets' size. Slices share their bytes, so that a frame costs no copying before it is packetized.
struct ModelFrame: Sendable {
    /// The first slice of a picture, and the others: header, `first_mb_in_slice` zero or not, and what stands for data.
    private let first: ByteBuffer
    private let following: ByteBuffer
    private let packetSize: Int

    init(packetSize: DataSize) {
        self.packetSize = max(packetSize.bytes, Self.leastPacket)
        let filler: UInt8 = 0x41
        var first = ByteBuffer(repeating: filler, count: self.packetSize)
        first.setInteger(0x9A as UInt8, at: 1)
        self.first = first
        following = ByteBuffer(repeating: filler, count: self.packetSize)
    }

    /// A header of RTP and two bytes of payload.
    private static let leastPacket = SentVideoStream.packetOverhead.bytes + 2

    /// The slices of a frame that takes so much on the wire, of about the same size.
    func slices(_ size: DataSize) -> [NALUnit] {
        let count = max((size.bytes + packetSize - 1) / packetSize, 1)
        var rest = size.bytes
        var units: [NALUnit] = []
        units.reserveCapacity(count)
        for index in 0..<count {
            let part = rest / (count - index)
            rest -= part
            let bytes = index == 0 ? first : following
            let length = max(part, Self.leastPacket) - SentVideoStream.packetOverhead.bytes
            if let unit = bytes.getSlice(at: 0, length: length).flatMap(NALUnit.init) { units.append(unit) }
        }
        return units
    }
}
