import MediaCore
import NIOCore
import Testing

@testable import H264

@Suite struct RecoveryPointTests {
    @Test("a recovery point is written in the standard's form")
    func written() {
        // recovery_frame_cnt 0, exact_match_flag 1, broken_link_flag 0, changing_slice_group_idc 0.
        #expect(RecoveryPoint(frameCount: 0, isExact: true).nalUnit == NALUnit(hex: "060601C480"))
    }

    @Test("written messages read back", arguments: [0, 1, 2, 14, 29, 30, 255, 65535], [true, false])
    func roundTrip(count: Int, isExact: Bool) {
        let point = RecoveryPoint(frameCount: count, isExact: isExact)
        #expect(RecoveryPoint(parsing: point.nalUnit) == point)
        #expect(RecoveryPoint(of: [point.nalUnit, Sample.slice]) == point)
    }

    @Test("it is found behind other messages of its unit, however long, and behind other units")
    func behindOthers() {
        let long = [UInt8](repeating: 0x41, count: 600)
        let others: [UInt8] = [1, 2, 0, 0] + [5, 255, 255, 90] + long
        let unit = NALUnit(type: .sei, referenceIDC: 0, rawPayload: others + [6, 1, 0xC4, 0x80])
        #expect(RecoveryPoint(parsing: unit) == RecoveryPoint(frameCount: 0, isExact: true))
        let delimiter = NALUnit(type: .accessUnitDelimiter, referenceIDC: 0, rawPayload: [0xF0])
        let timing = NALUnit(type: .sei, referenceIDC: 0, rawPayload: [1, 1, 0, 0x80])
        #expect(RecoveryPoint(of: [delimiter, timing, unit, Sample.slice])?.frameCount == 0)
    }

    @Test("an access unit without a recovery point has none, nor has one with it after the slice")
    func none() {
        let timing = NALUnit(type: .sei, referenceIDC: 0, rawPayload: [1, 1, 0, 0x80])
        #expect(RecoveryPoint(of: [timing, Sample.slice]) == nil)
        #expect(RecoveryPoint(of: [Sample.slice, RecoveryPoint(frameCount: 0, isExact: true).nalUnit]) == nil)
        #expect(RecoveryPoint(parsing: Sample.slice) == nil)
    }

    @Test("sizes beyond the unit, numbers out of range and cut-off payloads make none")
    func nonsense() {
        for payload: [UInt8] in [
            [], [6], [6, 1], [6, 0, 0x80], [6, 9, 0xC4, 0x80], [255, 255, 255], [6, 4, 0, 0, 0, 0, 0x80],
            [6, 5, 0, 0, 0x40, 0, 0, 0x80],
        ] {
            let unit = NALUnit(type: .sei, referenceIDC: 0, rawPayload: payload)
            #expect(RecoveryPoint(parsing: unit) == nil, "\(payload)")
        }
    }

    @Test("damaged messages are parsed or refused")
    func hostile() {
        var generator = SeededGenerator(seed: 21)
        var parsed = 0
        for _ in 0..<20000 {
            let point = RecoveryPoint(frameCount: .random(in: 0...70, using: &generator), isExact: true)
            let original = [5, 3, 1, 2, 3] + point.nalUnit.rawPayload()
            let unit = NALUnit(header: 6, payload: generator.mutated(original))
            guard let found = RecoveryPoint(parsing: unit) else { continue }
            parsed += 1
            #expect((0...65535).contains(found.frameCount))
        }
        #expect(parsed > 1000)
        for _ in 0..<20000 {
            let bytes = generator.smallBytes(.random(in: 0...24, using: &generator))
            _ = RecoveryPoint(parsing: NALUnit(header: 6, payload: bytes))
        }
    }

    @Test("after a loss, a picture that begins with a recovery point is complete, and one without may not be")
    func behindLoss() throws {
        let message = RecoveryPoint(frameCount: 0, isExact: true).nalUnit
        let timing = NALUnit(type: .sei, referenceIDC: 0, rawPayload: [1, 1, 0, 0x80])
        for (head, isWhole) in [([message], true), ([timing], false), ([], false)] {
            var depacketizer = H264Depacketizer()
            _ = depacketizer.append(payload: Sample.slice.bytes, timestamp: 0, marker: true, sequence: 1)
            var sequence: Int64 = 5
            var units: [AccessUnit] = []
            for unit in head + [Sample.slice] {
                units += depacketizer.append(
                    payload: unit.bytes, timestamp: 3000, marker: unit == Sample.slice, sequence: sequence)
                sequence += 1
            }
            #expect(try #require(units.first).isDamaged != isWhole)
        }
    }
}
