import H264
import MediaCore
import NIOCore
import Testing

@Suite struct AnnexBTests {
    @Test func `start codes of three and four bytes part NAL units`() {
        let stream = ByteBuffer(bytes: [0, 0, 0, 1, 0x67, 1, 2, 0, 0, 1, 0x68, 3, 0, 0, 0, 1, 0x65, 4, 5])
        #expect(AnnexB.nalUnits(in: stream).map(\.array) == [[0x67, 1, 2], [0x68, 3], [0x65, 4, 5]])
    }

    @Test func `zeros around NAL units are not part of them`() {
        let stream = ByteBuffer(bytes: [0, 0, 0, 0, 0, 1, 0x67, 1, 0, 0, 0, 0, 0, 1, 0x68, 3, 0, 0])
        #expect(AnnexB.nalUnits(in: stream).map(\.array) == [[0x67, 1], [0x68, 3]])
    }

    @Test func `what stands before the first start code is left out`() {
        #expect(AnnexB.nalUnits(in: ByteBuffer(bytes: [9, 9, 0, 0, 1, 0x67, 1])).map(\.array) == [[0x67, 1]])
        #expect(AnnexB.nalUnits(in: ByteBuffer(bytes: [0x67, 1, 2, 3])).isEmpty)
        #expect(AnnexB.nalUnits(in: ByteBuffer()).isEmpty)
    }

    @Test func `start codes with nothing between them are no NAL units`() {
        let stream = ByteBuffer(bytes: [0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0x65, 0, 0, 1])
        #expect(AnnexB.nalUnits(in: stream).map(\.array) == [[0x65]])
    }

    @Test func `NAL units are found in a buffer that has been read from`() {
        var stream = ByteBuffer(bytes: [0, 0, 1, 9, 9, 9, 0, 0, 1, 0x67, 1])
        stream.moveReaderIndex(forwardBy: 6)
        #expect(AnnexB.nalUnits(in: stream).map(\.array) == [[0x67, 1]])
    }

    @Test func `a byte stream holds the NAL units that were put in`() {
        var generator = SeededGenerator(seed: 2)
        for _ in 0..<300 {
            let units = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
                NALUnit(
                    type: .codedSliceNonIDR, referenceIDC: 1,
                    rawPayload: generator.smallBytes(Int.random(in: 0...60, using: &generator)))
            }
            #expect(AnnexB.nalUnits(in: AnnexB.encode(units)) == units)
        }
    }
}

@Suite struct StartCodeLengthTests {
    private static let units = [
        NALUnit(header: 9, payload: [0xF0]), NALUnit(header: 0x67, payload: [1]), NALUnit(header: 0x68, payload: [2]),
        NALUnit(header: 6, payload: [3]), NALUnit(header: 0x65, payload: [4]), NALUnit(header: 0x65, payload: [5]),
    ]

    @Test func `start codes have four bytes unless asked otherwise`() {
        let expected = Self.units.flatMap { [UInt8]([0, 0, 0, 1]) + $0.array }
        #expect(AnnexB.encode(Self.units).array == expected)
    }

    @Test func `the shortest start codes have four bytes where an access unit begins and before parameter sets`() {
        let zeros = [1, 1, 1, 0, 0, 0]
        let expected = zip(Self.units, zeros).flatMap { unit, zeros in
            [UInt8](repeating: 0, count: zeros) + [0, 0, 1] + unit.array
        }
        #expect(AnnexB.encode(Self.units, startCodes: .shortest).array == expected)
    }

    @Test(arguments: [AnnexB.StartCodeLength.four, .shortest], [1, 2, 4])
    func `a byte stream becomes length-prefixed and one again`(
        startCodes: AnnexB.StartCodeLength, lengthSize: Int
    ) throws {
        var generator = SeededGenerator(seed: 18)
        for _ in 0..<100 {
            let units = (0..<Int.random(in: 1...6, using: &generator)).map { _ in
                NALUnit(
                    type: .codedSliceNonIDR, referenceIDC: 1,
                    rawPayload: generator.smallBytes(Int.random(in: 0...100, using: &generator)) + [0x80])
            }
            let stream = AnnexB.encode(units, startCodes: startCodes)
            let prefixed = try LengthPrefixed.encode(AnnexB.nalUnits(in: stream), lengthSize: lengthSize)
            let back = try LengthPrefixed.nalUnits(in: prefixed, lengthSize: lengthSize)
            #expect(AnnexB.encode(back, startCodes: startCodes) == stream)
        }
    }
}

@Suite struct AnnexBReaderTests {
    /// The NAL units that a reader finds in `stream`, given in pieces of `sizes`.
    static func read(_ stream: [UInt8], pieces sizes: () -> Int) -> [[UInt8]] {
        var reader = AnnexBReader()
        var units: [[UInt8]] = []
        var offset = 0
        while offset < stream.count {
            let end = min(offset + sizes(), stream.count)
            reader.append(ByteBuffer(bytes: stream[offset..<end]))
            offset = end
            while let unit = reader.nextNALUnit() { units.append(unit.array) }
        }
        while let unit = reader.finish() { units.append(unit.array) }
        return units
    }

    @Test func `a stream cut anywhere gives what the whole stream gives`() {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<1000 {
            let stream = generator.smallBytes(Int.random(in: 0...80, using: &generator))
            let whole = AnnexB.nalUnits(in: ByteBuffer(bytes: stream)).map(\.array)
            #expect(Self.read(stream) { Int.random(in: 1...9, using: &generator) } == whole)
        }
    }

    @Test func `a stream cut in two at any byte gives what the whole stream gives`() {
        let stream: [UInt8] = [0, 0, 0, 1, 0x67, 1, 0, 0, 3, 0, 0, 1, 0x68, 3, 0, 0, 0, 0, 1, 0x65, 0, 0, 3, 1, 0]
        let expected: [[UInt8]] = [[0x67, 1, 0, 0, 3], [0x68, 3], [0x65, 0, 0, 3, 1]]
        for cut in 0...stream.count {
            var sizes = [cut, stream.count].filter { $0 > 0 }
            #expect(Self.read(stream) { sizes.removeFirst() } == expected)
        }
    }

    @Test func `a NAL unit is handed out as soon as the next start code is there`() {
        var reader = AnnexBReader()
        reader.append(ByteBuffer(bytes: [0, 0, 0, 1, 0x67, 1]))
        #expect(reader.nextNALUnit() == nil)
        reader.append(ByteBuffer(bytes: [2, 0, 0]))
        #expect(reader.nextNALUnit() == nil)
        reader.append(ByteBuffer(bytes: [1]))
        #expect(reader.nextNALUnit()?.array == [0x67, 1, 2])
    }

    @Test func `a long stream in pieces gives all its units`() {
        var generator = SeededGenerator(seed: 17)
        let units = (0..<200).map { _ in generator.nalUnit(size: 0...300) }
        let stream = AnnexB.encode(units).array
        #expect(Self.read(stream) { 100 } == units.map(\.array))
    }

    @Test func `finishing hands out what was not taken before`() {
        var reader = AnnexBReader()
        reader.append(ByteBuffer(bytes: [0, 0, 1, 0x67, 1, 0, 0, 1, 0x68, 2, 0, 0, 1, 0x65, 3]))
        #expect(
            [reader.finish(), reader.finish(), reader.finish()].map { $0?.array } == [
                [0x67, 1], [0x68, 2], [0x65, 3],
            ])
        #expect(reader.finish() == nil)
    }

    @Test func `an oversized NAL unit is left out and those around it are kept`() {
        var reader = AnnexBReader(maximumUnitSize: DataSize(bytes: 8))
        var units: [[UInt8]] = []
        let stream: [UInt8] =
            [0, 0, 1, 0x67, 1] + [0, 0, 1, 0x65] + [UInt8](repeating: 7, count: 100) + [0, 0, 1, 0x68, 2, 0, 0, 1]
        for byte in stream {
            reader.append(ByteBuffer(bytes: [byte]))
            while let unit = reader.nextNALUnit() { units.append(unit.array) }
        }
        #expect(units == [[0x67, 1], [0x68, 2]])
        #expect(reader.oversizedUnitCount == 1)
    }

    @Test func `an oversized NAL unit that came in one piece is left out`() {
        var reader = AnnexBReader(maximumUnitSize: DataSize(bytes: 8))
        reader.append(
            ByteBuffer(bytes: [0, 0, 1, 0x65] + [UInt8](repeating: 7, count: 100) + [0, 0, 1, 0x68, 2, 0, 0, 1]))
        #expect(reader.nextNALUnit()?.array == [0x68, 2])
        #expect(reader.oversizedUnitCount == 1)
    }
}

@Suite struct LengthPrefixedTests {
    @Test(arguments: [1, 2, 4]) func `lengths part NAL units`(lengthSize: Int) throws {
        var generator = SeededGenerator(seed: 4)
        let units = (0..<20).map { _ in generator.nalUnit(size: 0...200) }
        let data = try LengthPrefixed.encode(units, lengthSize: lengthSize)
        #expect(data.readableBytes == units.reduce(0) { $0 + lengthSize + $1.count })
        #expect(try LengthPrefixed.nalUnits(in: data, lengthSize: lengthSize) == units)
    }

    @Test func `lengths are big endian`() throws {
        let unit = NALUnit(header: 0x65, payload: [1, 2])
        #expect(LengthPrefixed.encode([unit]).array == [0, 0, 0, 3, 0x65, 1, 2])
        #expect(try LengthPrefixed.encode([unit], lengthSize: 2).array == [0, 3, 0x65, 1, 2])
    }

    @Test func `a length beyond the data is an error that names the place`() {
        #expect(throws: H264ParseError.truncatedUnit(offset: 6)) {
            try LengthPrefixed.nalUnits(in: ByteBuffer(bytes: [0, 0, 0, 2, 0x65, 1, 0, 0, 0, 9, 0x65]))
        }
        #expect(throws: H264ParseError.truncatedUnit(offset: 0)) {
            try LengthPrefixed.nalUnits(in: ByteBuffer(bytes: [0, 0, 0]))
        }
        #expect(throws: H264ParseError.truncatedUnit(offset: 0)) {
            try LengthPrefixed.nalUnits(in: ByteBuffer(bytes: [0xFF, 0xFF, 0xFF, 0xFF, 1]))
        }
    }

    @Test func `a unit that is too long for its length field is an error`() {
        let unit = NALUnit(header: 0x65, payload: [UInt8](repeating: 1, count: 255))
        #expect(throws: H264ParseError.unitTooLong(count: 256, maximum: 255)) {
            try LengthPrefixed.encode([unit], lengthSize: 1)
        }
    }

    @Test(arguments: [(1, 0xFF), (2, 0xFFFF)]) func `the longest unit fits its length field, one more byte does not`(
        lengthSize: Int, longest: Int
    ) throws {
        let unit = NALUnit(header: 0x65, payload: [UInt8](repeating: 1, count: longest - 1))
        let data = try LengthPrefixed.encode([unit, unit], lengthSize: lengthSize)
        #expect(data.array.prefix(lengthSize).allSatisfy { $0 == 0xFF })
        #expect(try LengthPrefixed.nalUnits(in: data, lengthSize: lengthSize) == [unit, unit])
        let longer = NALUnit(header: 0x65, payload: [UInt8](repeating: 1, count: longest))
        #expect(throws: H264ParseError.unitTooLong(count: longest + 1, maximum: longest)) {
            try LengthPrefixed.encode([unit, longer], lengthSize: lengthSize)
        }
        #expect(LengthPrefixed.encode([longer]).readableBytes == longest + 5)
    }

    @Test(arguments: [1, 2, 4]) func `data cut short is an error whatever the size of lengths`(lengthSize: Int) throws {
        let whole = try LengthPrefixed.encode([NALUnit(header: 0x65, payload: [1, 2])], lengthSize: lengthSize)
        for count in 1..<whole.readableBytes {
            #expect(throws: H264ParseError.truncatedUnit(offset: 0)) {
                try LengthPrefixed.nalUnits(in: ByteBuffer(bytes: whole.array.prefix(count)), lengthSize: lengthSize)
            }
        }
    }

    @Test(arguments: [0, 3, 5, -1]) func `other length sizes are refused`(lengthSize: Int) {
        #expect(throws: H264ParseError.unsupportedLengthSize(lengthSize)) {
            try LengthPrefixed.nalUnits(in: ByteBuffer(bytes: [0, 0, 0]), lengthSize: lengthSize)
        }
    }

    @Test func `units of length zero are left out`() throws {
        let data = ByteBuffer(bytes: [0, 0, 0, 0, 0, 0, 0, 1, 0x65])
        #expect(try LengthPrefixed.nalUnits(in: data).map(\.array) == [[0x65]])
    }
}
