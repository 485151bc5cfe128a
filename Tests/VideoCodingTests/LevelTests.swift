import H264
import MediaCore
import Testing

@testable import VideoCoding

@Suite("An H.264 level")
struct LevelTests {
    @Test("is the lowest that holds the stream")
    func lowest() {
        func level(_ width: Int, _ height: Int, _ rate: Int, _ bitRate: BitRate) -> UInt8? {
            H264Level.lowest(
                for: VideoDimensions(width: width, height: height), frameRate: rate, bitRate: bitRate, profile: .main)?
                .levelIDC
        }
        #expect(level(176, 144, 15, .kilobits(64)) == 10)
        #expect(level(176, 144, 15, .kilobits(100)) == 9)
        #expect(level(640, 360, 30, .megabits(4)) == 30)
        #expect(level(1280, 720, 30, .megabits(4)) == 31)
        #expect(level(1280, 720, 30, .megabits(15)) == 32)
        #expect(level(1280, 720, 60, .megabits(4)) == 32)
        #expect(level(1920, 1080, 30, .megabits(4)) == 40)
        #expect(level(8192, 8192, 30, .megabits(4)) == nil)
    }

    @Test("refuses a picture that is too long though small enough")
    func length() throws {
        let level = try #require(H264Level(levelIDC: 10))
        #expect(level.reasonToRefuse(VideoDimensions(width: 176, height: 144), frameRate: 15) == nil)
        #expect(level.reasonToRefuse(VideoDimensions(width: 464, height: 16), frameRate: 15) != nil)
    }

    @Test("is covered by itself, and where a decoder takes more, by the lowest level that demands as much")
    func covering() throws {
        #expect(H264Level.all.allSatisfy { $0.covering == $0 })
        let level = try #require(H264Level(levelIDC: 12))
        #expect(level.extended(pictureSize: 3600, macroblockRate: nil, bitRateUnits: nil).covering.levelIDC == 31)
        #expect(level.extended(pictureSize: nil, macroblockRate: nil, bitRateUnits: 20_000).covering.levelIDC == 32)
    }

    @Test("states the number of pictures that a decoder keeps")
    func references() throws {
        func count(_ levelIDC: UInt8, _ width: Int, _ height: Int) throws -> Int {
            try #require(H264Level(levelIDC: levelIDC))
                .maximumReferenceFrames(for: VideoDimensions(width: width, height: height))
        }
        #expect(try count(31, 1280, 720) == 5)
        #expect(try count(40, 1280, 720) == 9)
        #expect(try count(40, 1920, 1080) == 4)
        #expect(try count(10, 176, 144) == 4)
        #expect(try count(51, 320, 240) == 16)
    }

    @Test(
        "is stated in a device's streams as their profile has it: 1b as 11 with a flag, but in High",
        arguments: [
            (.constrainedBaseline, 9, 0xD0, 11), (.main, 9, 0x50, 11), (.high, 9, 0, 9), (.main, 11, 0x40, 11),
        ] as [(H264Profile, UInt8, UInt8, UInt8)])
    func stated(profile: H264Profile, level: UInt8, flags: UInt8, statedLevel: UInt8) throws {
        var properties = CompressionProperties()
        properties.profileLevel = H264ProfileLevel(profile, level: H264Level(levelIDC: level))
        let headers = StreamHeaders(
            properties, dimensions: VideoDimensions(width: 176, height: 144), structure: ReferenceStructure(layers: 1))
        let unit = try #require(NALUnit(headers.sequenceParameterSet))
        let stated = try SequenceParameterSet(parsing: unit).profileLevel
        #expect(stated.constraintFlags == flags)
        #expect(stated.levelIDC == statedLevel)
    }
}
