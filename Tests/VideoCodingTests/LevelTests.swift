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
}
