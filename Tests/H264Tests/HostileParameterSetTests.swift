import MediaCore
import NIOCore
import Testing

@testable import H264

/// Senders that make a receiver parse many or long parameter sets.
@Suite struct HostileParameterSetTests {
    /// A slice of the picture that uses PPS 0.
    private static let slice = NALUnit(type: .codedSliceIDR, referenceIDC: 3, rawPayload: [0xB8, 0x40, 0x80, 0])

    /// An SPS that differs from those of other widths.
    private func sequenceSet(width: Int, chromaFormat: Int = 1) -> NALUnit {
        var builder = SequenceParameterSetBuilder()
        builder.widthInMacroblocks = width
        if chromaFormat == 3 { builder.profileIDC = 244 }
        builder.chromaFormat = chromaFormat
        return builder.build()
    }

    private func pictureSet(_ id: Int, trailer: ((inout BitWriter) -> Void)? = nil) -> NALUnit {
        var builder = PictureParameterSetBuilder()
        builder.id = id
        builder.trailer = trailer
        return builder.build()
    }

    @Test func `a changed SPS has none of the PPSs parsed again`() throws {
        var tracker = FormatTracker()
        for id in 0..<256 { tracker.add(pictureSet(id)) }
        for change in 0..<100 {
            tracker.add(sequenceSet(width: 10 + change % 2))
            let found = tracker.format(of: Self.slice)
            let format = try #require(found)
            #expect(format.dimensions.width == 160 + change % 2 * 16)
            #expect(format.pictureParameterSets.count == 256)
        }
        #expect(tracker.store.parsedCount == 256 + 100)
    }

    @Test func `a repeated set is not parsed, wherever it stands among the others`() throws {
        var store = ParameterSetStore()
        let sets = [sequenceSet(width: 10)] + (0..<256).map { pictureSet($0) }
        for set in sets { #expect(try store.insert(set)) }
        for set in sets { #expect(try !store.insert(set)) }
        #expect(store.parsedCount == sets.count)
    }

    @Test func `scaling lists are forgotten, not parsed again, when the chroma format changes`() throws {
        var tracker = FormatTracker()
        tracker.add(sequenceSet(width: 10, chromaFormat: 3))
        for id in 0..<256 {
            tracker.add(
                pictureSet(id) { writer in
                    writer.flag(id > 0)
                    writer.flag(true)
                    for _ in 0..<(id > 0 ? 12 : 6) { writer.flag(false) }
                    writer.signed(id % 3)
                })
        }
        let whole = tracker.format(of: Self.slice)
        #expect(whole?.pictureParameterSets.count == 256)
        for change in 0..<100 {
            tracker.add(sequenceSet(width: 10, chromaFormat: change.isMultiple(of: 2) ? 1 : 3))
            let found = tracker.format(of: Self.slice)
            #expect(found?.pictureParameterSets.count == 1)
        }
        #expect(tracker.store.parsedCount == 1 + 256 + 100)
    }

    @Test(arguments: [NALUnitType.sequenceParameterSet, .pictureParameterSet])
    func `a set of four megabytes is refused before it is read`(type: NALUnitType) throws {
        let unit = NALUnit(type: type, referenceIDC: 3, rawPayload: [UInt8](repeating: 0xFF, count: 4 << 20))
        let error = H264ParseError.parameterSetTooLong(count: unit.count, maximum: NALUnit.maximumParameterSetSize)
        #expect(throws: error) { try SequenceParameterSet(parsing: sized(unit, .sequenceParameterSet)) }
        #expect(throws: error) { try PictureParameterSet(parsing: sized(unit, .pictureParameterSet)) }
        var store = ParameterSetStore()
        #expect(throws: H264ParseError.self) { try store.insert(unit) }
        #expect(store.parsedCount == 0)
    }

    private func sized(_ unit: NALUnit, _ type: NALUnitType) -> NALUnit {
        var bytes = unit.bytes
        bytes.setInteger(0x60 | type.rawValue, at: bytes.readerIndex)
        return NALUnit(bytes) ?? unit
    }

    @Test func `the sets of a stream are bounded together, and one that is replaced makes room`() throws {
        /// A PPS of about 2 kB: zero bytes behind the stop bit do not count.
        func long(_ id: Int, variant: UInt8) -> NALUnit {
            var bytes = pictureSet(id).bytes
            bytes.writeBytes([UInt8](repeating: 0, count: 2000) + [variant])
            return NALUnit(bytes) ?? Self.slice
        }
        var store = ParameterSetStore()
        for id in 0..<8 { try store.insert(long(id, variant: 0)) }
        #expect(throws: H264ParseError.self) { try store.insert(long(8, variant: 0)) }
        #expect(store.pictureParameterSet(id: 8) == nil)
        try store.insert(pictureSet(7))
        #expect(try store.insert(long(8, variant: 0)))
        #expect(store.pictureParameterSet(id: 8) != nil)
    }

    @Test func `fragments of a parameter set are dropped as soon as it is too long`() {
        var depacketizer = H264Depacketizer()
        var finished: [AccessUnit] = []
        let count = 4000
        for index in 0..<count {
            let header: UInt8 = (index == 0 ? 0x80 : index == count - 1 ? 0x40 : 0) | 7
            finished += depacketizer.append(
                payload: ByteBuffer(bytes: [0x60 | 28, header] + [UInt8](repeating: 0x55, count: 1000)), timestamp: 0,
                marker: index == count - 1, sequence: Int64(index))
        }
        #expect(finished.isEmpty)
        #expect(depacketizer.oversizePayloadCount == 1)
    }
}
