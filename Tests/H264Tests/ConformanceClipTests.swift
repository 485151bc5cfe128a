import Foundation
import MediaCore
import NIOCore
import Testing

@testable import H264

/// The folder with JVT conformance clips, if the environment names one.
private let clipFolder = ProcessInfo.processInfo.environment["CONFRELAY_CONFORMANCE_DIR"]

private func clipNames() -> [String] {
    guard let clipFolder else { return [] }
    let suffixes = [".264", ".jsv", ".h264", ".avc", ".26l", ".jvt"]
    let names = (try? FileManager.default.contentsOfDirectory(atPath: clipFolder)) ?? []
    return names.filter { name in suffixes.contains(where: name.hasSuffix) }.sorted()
}

@Suite(.enabled(if: clipFolder != nil, "CONFRELAY_CONFORMANCE_DIR names no folder of clips"))
struct ConformanceClipTests {
    private func load(_ name: String) throws -> [NALUnit] {
        let data = try Data(contentsOf: URL(fileURLWithPath: "\(clipFolder ?? "")/\(name)"))
        return AnnexB.nalUnits(in: ByteBuffer(bytes: data))
    }

    private func accessUnits(_ units: [NALUnit]) -> [[NALUnit]] {
        var assembler = AccessUnitAssembler()
        return units.compactMap { assembler.append($0) } + [assembler.finish()].compactMap { $0 }
    }

    @Test(arguments: clipNames()) func `a clip's NAL units survive every framing`(name: String) throws {
        let units = try load(name)
        #expect(!units.isEmpty)
        #expect(AnnexB.nalUnits(in: AnnexB.encode(units)) == units)
        #expect(AnnexB.nalUnits(in: AnnexB.encode(units, startCodes: .shortest)) == units)
        #expect(try LengthPrefixed.nalUnits(in: LengthPrefixed.encode(units)) == units)
        let short = units.filter { $0.count <= UInt16.max }
        #expect(try LengthPrefixed.nalUnits(in: LengthPrefixed.encode(short, lengthSize: 2), lengthSize: 2) == short)
        let pictures = accessUnits(units)
        #expect(pictures.flatMap { $0 } == units)
        for limit in [300, 1200] {
            let packetizer = H264Packetizer(mode: .nonInterleaved, maximumPayloadSize: limit)
            var depacketizer = H264Depacketizer()
            var received: [AccessUnit] = []
            var sequence: Int64 = 0
            for (index, picture) in pictures.enumerated() {
                let payloads = packetizer.packetize(picture)
                for (position, payload) in payloads.enumerated() {
                    received += depacketizer.append(
                        payload: payload, timestamp: UInt32(truncatingIfNeeded: index),
                        marker: position == payloads.count - 1, sequence: sequence)
                    sequence += 1
                }
            }
            #expect(received.map(\.nalUnits) == pictures)
            #expect(depacketizer.malformedPayloadCount == 0)
        }
    }

    @Test(arguments: clipNames()) func `a clip read in pieces has the NAL units of the whole`(name: String) throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: "\(clipFolder ?? "")/\(name)"))
        var generator = SeededGenerator(seed: 19)
        var reader = AnnexBReader()
        var units: [NALUnit] = []
        var rest = ByteBuffer(bytes: data)
        while rest.readableBytes > 0 {
            let size = min(Int.random(in: 1...4000, using: &generator), rest.readableBytes)
            if let piece = rest.readSlice(length: size) { reader.append(piece) }
            while let unit = reader.nextNALUnit() { units.append(unit) }
        }
        while let unit = reader.finish() { units.append(unit) }
        #expect(try units == load(name))
    }

    @Test(arguments: clipNames()) func `a clip's parameter sets describe it`(name: String) throws {
        let sets = try load(name).filter(\.isParameterSet).map(\.bytes)
        let format = try VideoFormatDescription(h264ParameterSets: sets)
        #expect(format.dimensions.width >= 16 && format.dimensions.height >= 16)
        #expect(format.codedDimensions.width % 16 == 0)
    }

    @Test(arguments: clipNames()) func `each access unit of a clip has one picture`(name: String) throws {
        for picture in accessUnits(try load(name)) {
            let firstSlices = picture.filter { $0.isVCL && $0.beginsPicture }
            #expect(firstSlices.count == 1)
        }
    }
}
