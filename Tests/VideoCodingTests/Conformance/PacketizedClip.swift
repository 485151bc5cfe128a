import H264
import MediaCore
import NIOCore
import RTP

/// Access units on their way over RTP: packetized, reordered, buffered and put together again.
struct PacketizedClip {
    var mode: PacketizationMode
    var maximumPayloadSize: Int
    /// The number of packets that a packet may overtake.
    var window = 8
    var seed: UInt64 = 1

    /// Returns true if the mode carries these units: mode 0 knows no fragments.
    func carries(_ accessUnits: [[NALUnit]]) -> Bool {
        mode == .nonInterleaved || accessUnits.allSatisfy { $0.allSatisfy { $0.count <= maximumPayloadSize } }
    }

    func transport(_ accessUnits: [[NALUnit]]) -> [AccessUnit] {
        var buffer = JitterBuffer()
        var depacketizer = H264Depacketizer()
        var received: [AccessUnit] = []
        var now: Int64 = 0
        for packet in shuffled(packets(of: accessUnits)) {
            now += 100_000
            _ = buffer.insert(packet, now: MonotonicInstant(nanoseconds: now))
            while let ready = buffer.popNext(now: MonotonicInstant(nanoseconds: now)) {
                received += depacketizer.append(
                    payload: ready.packet.payload, timestamp: ready.packet.timestamp, marker: ready.packet.marker,
                    sequence: ready.sequence)
            }
        }
        return received
    }

    private func packets(of accessUnits: [[NALUnit]]) -> [RTPPacket] {
        let packetizer = H264Packetizer(mode: mode, maximumPayloadSize: maximumPayloadSize)
        var packets: [RTPPacket] = []
        for (number, unit) in accessUnits.enumerated() {
            let payloads = packetizer.packetize(unit)
            for (index, payload) in payloads.enumerated() {
                packets.append(
                    RTPPacket(
                        payloadType: 96, marker: index == payloads.count - 1,
                        sequenceNumber: UInt16(truncatingIfNeeded: 65_000 + packets.count),
                        timestamp: UInt32(truncatingIfNeeded: number * 3000), ssrc: 1, payload: payload))
            }
        }
        return packets
    }

    /// The packets as a network may bring them; the first one is first, since a receiver starts there.
    private func shuffled(_ packets: [RTPPacket]) -> [RTPPacket] {
        var generator = SeededGenerator(seed: seed)
        let keys = packets.indices.map { index in
            index == 0 ? -1 : index + Int(generator.next() % UInt64(window + 1))
        }
        return packets.indices.sorted { (keys[$0], $0) < (keys[$1], $1) }.map { packets[$0] }
    }
}
