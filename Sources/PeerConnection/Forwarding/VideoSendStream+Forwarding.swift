import H264
import MediaCore
import NIOCore
import RTP

/// An encoder's frames give way to another sender's packets, and the other way round, in one stream: numbers and
/// timestamps go on.
extension VideoSendStream {
    /// From this packet on, the source's packets are forwarded. Before it go parameter sets, where its frame has none.
    ///
    /// - Returns: Packets that go ahead of it.
    mutating func beginForwarding(at first: ForwardedPacket, parameterSets: [ByteBuffer]) -> [NumberedPacket] {
        var timestamp = rtpTimestamp(at: first.arrival)
        if let latestTimestamp, Int32(bitPattern: timestamp &- latestTimestamp) <= 0 {
            timestamp = latestTimestamp &+ Self.leastTimestampStep
        }
        timestampShift = 0
        forwarding = ForwardingStream(first: first, as: Int64(sequenceNumber), timestamp: timestamp)
        return insert(parameterSets: parameterSets, timestamp: timestamp)
    }

    /// The packets that a source's packet becomes: none where it is left out, more where parameter sets go ahead of it.
    mutating func forward(
        _ packet: ForwardedPacket, parameterSets: [ByteBuffer], leavesOutDispensable: Bool
    ) -> [NumberedPacket] {
        var packets: [NumberedPacket] = []
        if packet.startsFrame, !parameterSets.isEmpty, let stream = forwarding {
            packets = insert(
                parameterSets: parameterSets,
                timestamp: packet.packet.timestamp &+ stream.timestampOffset)
        }
        guard let place = forwarding?.place(packet, leavesOutDispensable: leavesOutDispensable) else { return packets }
        var rewritten = RTPPacket(
            payloadType: payloadType, marker: packet.packet.marker,
            sequenceNumber: UInt16(truncatingIfNeeded: place.number), timestamp: place.timestamp, ssrc: ssrc,
            payload: packet.packet.payload)
        if let rotation = packet.rotation {
            lastRotation = rotation
            if let orientationID { rewritten.extensions.setVideoRotation(rotation, id: orientationID) }
        }
        recordForwarded()
        if packet.packet.marker, isForwarding { framesSent &+= 1 }
        packets.append(NumberedPacket(packet: rewritten, number: place.number))
        return packets
    }

    /// No more packets are forwarded. Those from `number` on have not left and will not.
    mutating func endForwarding(at number: Int64) {
        guard let stream = forwarding, !stream.isOver else { return }
        forwarding?.numbering.close(at: max(number, stream.leastEnd))
        recordForwarded()
    }

    /// The source's stream has begun anew at a packet.
    mutating func restartForwarding(at packet: ForwardedPacket) {
        guard isForwarding else { return }
        forwarding?.restart(at: packet)
        recordForwarded()
    }

    /// Whether packets are forwarded.
    var isForwarding: Bool { forwarding.map { $0.numbering.end == nil } ?? false }

    /// What comes behind the source's packets goes on with their numbers and timestamps.
    private mutating func recordForwarded() {
        guard let number = forwarding?.numbering.next, forwarding?.isOver == false else { return }
        sequenceNumber = UInt16(truncatingIfNeeded: number)
        latestTimestamp = forwarding?.latestTimestamp
    }

    private mutating func insert(parameterSets: [ByteBuffer], timestamp: UInt32) -> [NumberedPacket] {
        let payloads = packetizer.packetize(parameterSets.compactMap { NALUnit($0) })
        guard !payloads.isEmpty, let first = forwarding?.numbering.insert(payloads.count) else { return [] }
        recordForwarded()
        return payloads.enumerated().map { index, payload in
            let number = first + Int64(index)
            return NumberedPacket(
                packet: RTPPacket(
                    payloadType: payloadType, sequenceNumber: UInt16(truncatingIfNeeded: number), timestamp: timestamp,
                    ssrc: ssrc, payload: payload), number: number)
        }
    }
}

/// A packet of a stream, with its unwrapped number.
struct NumberedPacket: Sendable {
    var packet: RTPPacket
    var number: Int64
}
