public import NIOCore

/// An RTCP packet (RFC 3550 6, RFC 4585 6.1): one element of a compound.
public enum RTCPPacket: Hashable, Sendable {
    case senderReport(SenderReport)
    case receiverReport(ReceiverReport)
    case sourceDescription(SourceDescription)
    case bye(Goodbye)
    case genericNACK(GenericNACK)
    case transportFeedback(TransportFeedback)
    case pictureLossIndication(PictureLossIndication)
    case fullIntraRequest(FullIntraRequest)
    case referencePictureSelection(ReferencePictureSelectionIndication)
    case receiverEstimatedMaximumBitrate(REMB)
    case maximumBitRateRequest(BitRateLimits)
    case maximumBitRateNotification(BitRateLimits)
    case congestionControlFeedback(CongestionControlFeedback)
    /// A packet of a type or format that is not one of the above; to be skipped.
    case other(OtherRTCPPacket)
}

extension RTCPPacket {
    /// The packets in a datagram: a compound (RFC 3550 6.1) or a single one of reduced size (RFC 5506).
    ///
    /// Types and formats that are not known come back as `other`. Lengths and versions that do not fit fail all (RFC
    /// 3550 A.2). A packet with a malformed body is the end: those before it are whole, and those behind it are not
    /// read, as its length cannot be trusted either.
    public static func parse(compound datagram: ByteBuffer) throws(RTPError) -> [RTCPPacket] {
        guard datagram.readableBytes > 0 else {
            throw .truncated(structure: "RTCP header", needed: RTCPHeader.size, available: 0)
        }
        var rest = datagram
        var packets: [RTCPPacket] = []
        var statusCount = 0
        while rest.readableBytes > 0 {
            let header = try RTCPHeader(reading: &rest)
            var body = try rest.read(bytes: header.bodySize, of: "RTCP packet")
            if header.hasPadding { _ = try body.removePadding() }
            let packet: RTCPPacket
            do throws(RTPError) {
                packet = try parse(header, body: body)
            } catch {
                guard !packets.isEmpty else { throw error }
                return packets
            }
            if case .transportFeedback(let feedback) = packet {
                statusCount += feedback.statusCount
                guard statusCount <= TransportFeedback.maximumPacketCount else {
                    throw .malformed(structure: "compound packet", reason: "its feedback tells of too many packets")
                }
            }
            packets.append(packet)
        }
        return packets
    }

    private static func parse(_ header: RTCPHeader, body: ByteBuffer) throws(RTPError) -> RTCPPacket {
        switch (header.type, header.countOrFormat) {
        case (RTCPType.senderReport, let count):
            return .senderReport(try SenderReport(parsing: body, reportCount: count))
        case (RTCPType.receiverReport, let count):
            return .receiverReport(try ReceiverReport(parsing: body, reportCount: count))
        case (RTCPType.sourceDescription, let count):
            return .sourceDescription(try SourceDescription(parsing: body, chunkCount: count))
        case (RTCPType.goodbye, let count):
            return .bye(try Goodbye(parsing: body, sourceCount: count))
        case (RTCPType.transportLayerFeedback, GenericNACK.format):
            return .genericNACK(try GenericNACK(parsing: body))
        case (RTCPType.transportLayerFeedback, BitRateLimits.requestFormat):
            return .maximumBitRateRequest(try BitRateLimits(parsing: body))
        case (RTCPType.transportLayerFeedback, BitRateLimits.notificationFormat):
            return .maximumBitRateNotification(try BitRateLimits(parsing: body))
        case (RTCPType.transportLayerFeedback, CongestionControlFeedback.format):
            return .congestionControlFeedback(try CongestionControlFeedback(parsing: body))
        case (RTCPType.transportLayerFeedback, TransportFeedback.format):
            return .transportFeedback(try TransportFeedback(parsing: body))
        case (RTCPType.payloadSpecificFeedback, PictureLossIndication.format):
            return .pictureLossIndication(try PictureLossIndication(parsing: body))
        case (RTCPType.payloadSpecificFeedback, ReferencePictureSelectionIndication.format)
        where ReferencePictureSelectionIndication.isTimestamp(body):
            return .referencePictureSelection(try ReferencePictureSelectionIndication(parsing: body))
        case (RTCPType.payloadSpecificFeedback, FullIntraRequest.format):
            return .fullIntraRequest(try FullIntraRequest(parsing: body))
        case (RTCPType.payloadSpecificFeedback, REMB.format) where REMB.isREMB(body):
            return .receiverEstimatedMaximumBitrate(try REMB(parsing: body))
        default:
            return .other(
                OtherRTCPPacket(packetType: header.type, countOrFormat: header.countOrFormat, body: body))
        }
    }

    /// The packets behind each other in one datagram.
    ///
    /// A report with more than 31 blocks, and lists of more than 31 sources, continue in further packets of their
    /// kind (RFC 3550 6.1). The order is the caller's: RFC 3550 wants a report first, then the source description.
    public static func encode(_ packets: [RTCPPacket]) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: 128 * packets.count)
        for packet in packets { packet.encode(into: &buffer) }
        return buffer
    }

    private func encode(into buffer: inout ByteBuffer) {
        switch self {
        case .senderReport(let packet): packet.encode(into: &buffer)
        case .receiverReport(let packet): packet.encode(into: &buffer)
        case .sourceDescription(let packet): packet.encode(into: &buffer)
        case .bye(let packet): packet.encode(into: &buffer)
        case .genericNACK(let packet): packet.encode(into: &buffer)
        case .transportFeedback(let packet): packet.encode(into: &buffer)
        case .pictureLossIndication(let packet): packet.encode(into: &buffer)
        case .fullIntraRequest(let packet): packet.encode(into: &buffer)
        case .referencePictureSelection(let packet): packet.encode(into: &buffer)
        case .receiverEstimatedMaximumBitrate(let packet): packet.encode(into: &buffer)
        case .maximumBitRateRequest(let packet):
            packet.encode(format: BitRateLimits.requestFormat, into: &buffer)
        case .maximumBitRateNotification(let packet):
            packet.encode(format: BitRateLimits.notificationFormat, into: &buffer)
        case .congestionControlFeedback(let packet): packet.encode(into: &buffer)
        case .other(let packet): packet.encode(into: &buffer)
        }
    }
}

/// An RTCP packet that this module has no codec for.
public struct OtherRTCPPacket: Hashable, Sendable {
    public var packetType: UInt8
    /// The five bits behind version and padding: a count, or the format of a feedback message.
    public var countOrFormat: UInt8
    /// The bytes after the first word, without padding; zeros are written up to a whole word.
    public var body: ByteBuffer

    public init(packetType: UInt8, countOrFormat: UInt8, body: ByteBuffer) {
        self.packetType = packetType
        self.countOrFormat = countOrFormat
        self.body = body
    }

    func encode(into buffer: inout ByteBuffer) {
        let length = min(body.readableBytes, Int(UInt16.max) * 4)
        guard let body = body.getSlice(at: body.readerIndex, length: length) else { return }
        buffer.writeRTCP(type: packetType, countOrFormat: countOrFormat) { $0.writeImmutableBuffer(body) }
    }
}
