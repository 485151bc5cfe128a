import H264
import MediaCore
import NIOCore
import RTP
import SecureTransport

/// Receives SRTP streams on ports of its own: counts the frames of each by their markers, and keeps the first one's
/// packets, which are decrypted after the measurement.
struct RTPSink {
    private struct Packet {
        var datagram: ByteBuffer
        var arrival: MonotonicInstant
    }

    let ports: [UInt16]
    private let sockets: [UDPSocket]
    private var packets: [Packet] = []
    private var arrivals: DatagramArrivalClock?

    init(streams: Int) throws {
        sockets = try (0..<streams).map { _ in try UDPSocket(receiveBufferSize: 4 << 20) }
        ports = try sockets.map { try $0.port() }
        arrivals = sockets.first?.makeArrivalClock()
    }

    /// Takes the packets that have come. Call it at least once a second: older arrival times are lost.
    ///
    /// - Returns: The number of frames of each stream since the last call.
    mutating func take() -> [Int] {
        sockets.enumerated().map { index, socket in index == 0 ? keepPackets(of: socket) : Self.frames(of: socket) }
    }

    private mutating func keepPackets(of socket: UDPSocket) -> Int {
        var frames = 0
        while let datagram = socket.receive() {
            let now = SystemMediaClock.shared.now
            packets.append(Packet(datagram: datagram, arrival: arrivals?.arrival(now: now) ?? now))
            if let second: UInt8 = datagram.getInteger(at: datagram.readerIndex + 1), second & 0x80 != 0 { frames += 1 }
        }
        return frames
    }

    private static func frames(of socket: UDPSocket) -> Int {
        var frames = 0
        while let header = socket.receiveHeader() { if header & 0x80 != 0 { frames += 1 } }
        return frames
    }

    /// Decrypts the first stream and puts its frames into a log.
    func decrypt(keys: SRTPKeyMaterial, into log: FrameLog) throws {
        let context = try SRTPContext(keys: keys, direction: .inbound)
        var (depacketizer, formats) = (H264Depacketizer(), FormatTracker())
        var (sequences, timestamps) = (SequenceUnwrapper(), TimestampUnwrapper())
        for packet in packets {
            var datagram = packet.datagram
            try context.unprotect(rtp: &datagram)
            let rtp = try RTPPacket(parsing: datagram)
            let units = depacketizer.append(
                payload: rtp.payload, timestamp: rtp.timestamp, marker: rtp.marker,
                sequence: sequences.unwrap(rtp.sequenceNumber))
            for unit in units where !unit.isDamaged {
                for set in unit.parameterSets { formats.add(set) }
                guard let slice = unit.nalUnits.first(where: \.isVCL), let format = formats.format(of: slice) else {
                    continue
                }
                let time = MediaTime(value: timestamps.unwrap(unit.rtpTimestamp), timescale: 90_000)
                log.received(
                    SampleBuffer(nalUnits: unit.nalUnits, format: format, presentationTime: time), at: packet.arrival)
            }
        }
    }
}
