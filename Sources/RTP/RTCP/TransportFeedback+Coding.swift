import NIOCore

extension TransportFeedback {
    /// The report on a packet (section 3.1.1).
    private enum Symbol {
        static let notReceived: UInt8 = 0
        /// Received, with a delta of 0 to 255 units in one byte.
        static let smallDelta: UInt8 = 1
        /// Received, with a delta in two bytes, signed.
        static let largeDelta: UInt8 = 2
    }

    /// The largest number of packets in accepted feedback. A few bytes can stand for tens of thousands, but a receiver
    /// that reports several times a second never has so many.
    static let maximumPacketCount = 8192

    /// The largest number of packets in a run-length chunk.
    private static let maximumRunLength = 0x1FFF

    init(parsing body: ByteBuffer) throws(RTPError) {
        var body = body
        senderSSRC = try body.read(of: "transport feedback")
        mediaSSRC = try body.read(of: "transport feedback")
        baseSequence = try body.read(of: "transport feedback")
        let count = Int(try body.read(UInt16.self, of: "transport feedback"))
        let times = try body.read(UInt32.self, of: "transport feedback")
        referenceTime = Int32(bitPattern: times) >> 8
        feedbackCount = UInt8(truncatingIfNeeded: times)

        guard count <= Self.maximumPacketCount else {
            throw .malformed(
                structure: "transport feedback",
                reason: "it tells of \(count) packets, more than \(Self.maximumPacketCount)")
        }
        var chunks = try Self.readChunks(count: count, from: &body)
        packets = []
        // Each received packet has a delta of a byte at least.
        packets.reserveCapacity(min(count, body.readableBytes + 1))
        var start = 0
        while start < count {
            let chunk = Chunk(word: try chunks.read(of: Self.chunkName))
            let end = min(start + chunk.packetCount, count)
            if !chunk.isLoss {
                for position in start..<end {
                    let sequence = baseSequence &+ UInt16(truncatingIfNeeded: position)
                    let symbol = chunk.symbol(at: position - start)
                    if let status = try Self.readStatus(of: sequence, symbol, from: &body) { packets.append(status) }
                }
            }
            start = end
        }
        guard count > 0 else { return }
        let last = baseSequence &+ UInt16(truncatingIfNeeded: count - 1)
        if packets.last?.sequence != last { packets.append(PacketStatus(sequence: last, receiveDelta: nil)) }
    }

    private static let chunkName: StaticString = "status chunk of transport feedback"

    /// Some packets' symbols (sections 3.1.3 and 3.1.4).
    private struct Chunk {
        let word: UInt16

        private var isRun: Bool { word & 0x8000 == 0 }
        private var hasShortSymbols: Bool { word & 0x4000 == 0 }

        /// The number of packets that the chunk stands for.
        var packetCount: Int { isRun ? Int(word) & maximumRunLength : hasShortSymbols ? 14 : 7 }

        /// True for a run of missing packets.
        var isLoss: Bool { isRun && symbol(at: 0) == Symbol.notReceived }

        func symbol(at index: Int) -> UInt8 {
            if isRun { return UInt8(truncatingIfNeeded: word >> 13 & 0x3) }
            let symbol = hasShortSymbols ? word >> (13 - index) & 0x1 : word >> (12 - 2 * index) & 0x3
            return UInt8(truncatingIfNeeded: symbol)
        }
    }

    /// Takes the chunks that cover `count` packets; the rest of the last one is ignored.
    private static func readChunks(count: Int, from body: inout ByteBuffer) throws(RTPError) -> ByteBuffer {
        var rest = body
        var covered = 0
        while covered < count {
            let chunk = Chunk(word: try rest.read(of: chunkName))
            guard chunk.packetCount > 0 else {
                throw .malformed(structure: "transport feedback", reason: "a run-length chunk stands for no packet")
            }
            covered += chunk.packetCount
        }
        return try body.read(bytes: body.readableBytes - rest.readableBytes, of: chunkName)
    }

    /// Takes the delta of a packet with this symbol; nil for a packet that was not received.
    private static func readStatus(
        of sequence: UInt16, _ symbol: UInt8, from body: inout ByteBuffer
    ) throws(RTPError) -> PacketStatus? {
        switch symbol {
        case Symbol.notReceived: return nil
        case Symbol.smallDelta:
            let units = try body.read(UInt8.self, of: "receive delta of transport feedback")
            return PacketStatus(sequence: sequence, deltaUnits: Int16(units))
        case Symbol.largeDelta:
            let units = try body.read(Int16.self, of: "receive delta of transport feedback")
            return PacketStatus(sequence: sequence, deltaUnits: units)
        default:
            throw .malformed(structure: "transport feedback", reason: "a packet has the reserved status symbol 3")
        }
    }

    func encode(into buffer: inout ByteBuffer) {
        let (symbols, units) = quantized()
        buffer.writeRTCP(type: RTCPType.transportLayerFeedback, countOrFormat: Self.format) {
            $0.writeMultipleIntegers(
                senderSSRC, mediaSSRC, baseSequence, UInt16(truncatingIfNeeded: symbols.count),
                UInt32(bitPattern: referenceTime) << 8 | UInt32(feedbackCount))
            Self.writeChunks(of: symbols, into: &$0)
            var received = units.makeIterator()
            for symbol in symbols where symbol != Symbol.notReceived {
                guard let units = received.next() else { break }
                if symbol == Symbol.smallDelta {
                    $0.writeInteger(UInt8(truncatingIfNeeded: units))
                } else {
                    $0.writeInteger(units)
                }
            }
        }
    }

    /// One symbol for each sequence number from the base on, and the deltas of received packets, in units of 250 µs.
    ///
    /// The remainder of rounding and clamping is carried to the next delta.
    private func quantized() -> (symbols: [UInt8], units: [Int16]) {
        var symbols: [UInt8] = []
        var units: [Int16] = []
        symbols.reserveCapacity(packets.count)
        units.reserveCapacity(packets.count)
        var carried: Int64 = 0
        for packet in packets {
            let position = Int(packet.sequence &- baseSequence)
            guard position >= symbols.count, position < Int(UInt16.max) else { continue }
            symbols.append(contentsOf: repeatElement(Symbol.notReceived, count: position - symbols.count))
            guard let delta = packet.deltaInNanoseconds else {
                symbols.append(Symbol.notReceived)
                continue
            }
            let (sum, overflow) = delta.addingReportingOverflow(carried)
            let exact = overflow ? delta : sum
            let unit = Self.deltaUnitNanoseconds
            let written = Int16(clamping: exact / unit + (exact % unit) / (unit / 2))
            carried = exact &- Int64(written) * unit
            units.append(written)
            symbols.append((0...255).contains(written) ? Symbol.smallDelta : Symbol.largeDelta)
        }
        return (symbols, units)
    }

    /// Writes the symbols, always with the kind of chunk that covers the most of the remaining ones.
    private static func writeChunks(of symbols: [UInt8], into buffer: inout ByteBuffer) {
        var position = 0
        while position < symbols.count {
            let left = symbols.count - position
            let first = symbols[position]
            var runLength = 1
            while runLength < min(left, maximumRunLength), symbols[position + runLength] == first { runLength += 1 }

            let oneBitCount = min(14, left)
            let twoBitCount = min(7, left)
            let fitsOneBit =
                runLength < oneBitCount
                && symbols[position..<(position + oneBitCount)].allSatisfy { $0 != Symbol.largeDelta }
            if fitsOneBit {
                var chunk: UInt16 = 0x8000
                for index in 0..<oneBitCount { chunk |= UInt16(symbols[position + index]) << (13 - index) }
                buffer.writeInteger(chunk)
                position += oneBitCount
            } else if runLength >= twoBitCount {
                buffer.writeInteger(UInt16(first) << 13 | UInt16(truncatingIfNeeded: runLength))
                position += runLength
            } else {
                var chunk: UInt16 = 0xC000
                for index in 0..<twoBitCount { chunk |= UInt16(symbols[position + index]) << (12 - 2 * index) }
                buffer.writeInteger(chunk)
                position += twoBitCount
            }
        }
    }
}
