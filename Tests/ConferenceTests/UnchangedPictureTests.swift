import CongestionControl
import EncoderSharing
import MediaCore
import MediaFixtures
import Testing
import VideoCoding

@testable import Conference

/// The frames that an encoder makes of a picture that stays the same.
@Suite struct UnchangedPictureTests {
    private static let dimensions = VideoDimensions(width: 320, height: 180)
    private static let rate = BitRate.kilobits(500)
    private static let ladder = Ladder(canvas: dimensions, frameRate: 30, preference: .detail)

    private let workshop: EncoderWorkshop
    private let group: EncodeGroup
    private let picture = PixelBuffer.pattern(.red, dimensions: dimensions, phase: 0)

    init() {
        workshop = EncoderWorkshop()
        group = EncodeGroup(dimensions: Self.dimensions, rate: Self.rate, preference: .detail, workshop: workshop)
    }

    /// The group's rate, and its needs, from the next frame on.
    private func update(rate: BitRate, isShared: Bool = false, needsLayers: Bool = false) {
        group.update(
            bitRate: VideoBitRate(target: rate, sustained: rate), isShared: isShared, recovers: false,
            needsLayers: needsLayers)
    }

    /// Encodes a picture at one of 30 ticks a second. Returns the frame; nil if none was needed, or it was left out.
    private func frame(at tick: Int64, of picture: PixelBuffer? = nil) -> EncodedFrame? {
        group.encode(
            picture ?? self.picture, keyframeBound: DataSize(bytes: 10_000), now: .zero + .milliseconds(33) * tick)?
            .frame
    }

    @Test("a keyframe of a picture that was sharp is sharpened as fast as a new picture")
    func keyframe() {
        for tick in Int64(0)..<200 { _ = frame(at: tick) }
        #expect(group.isStill)
        group.requestKeyframe()
        #expect(frame(at: 200)?.isKeyframe == true)
        #expect(!group.isStill)
        for tick in Int64(201)..<216 { #expect(frame(at: tick) != nil, "tick \(tick)") }
        #expect(frame(at: 216) == nil)
        #expect(group.isStill)
    }

    @Test("a frame of an unchanged picture that the encoder leaves out is tried again at the next tick")
    func leftOut() {
        for tick in Int64(0)..<200 { _ = frame(at: tick) }
        workshop.behaviour = .leavesOut
        #expect((Int64(200)..<240).allSatisfy { frame(at: $0) == nil })
        #expect(!group.isStill)
        workshop.behaviour = .usual
        #expect(frame(at: 240) != nil)
    }

    @Test("a picture that is coarse for want of bits is refined until it is sharp, at the same rung")
    func lowRate() throws {
        let (rate, picture) = (BitRate.kilobits(200), Texture.coarsePictures[0])
        update(rate: rate)
        var qps: [Int] = []
        for tick in Int64(0)..<290 where tick == 0 || !group.isStill {
            group.chooseRung(
                in: Self.ladder, slowest: rate, tickRate: 30, now: .zero + .milliseconds(33) * tick)
            guard let frame = frame(at: tick, of: picture) else { continue }
            qps.append(try #require(frame.statistics.averageQP))
        }
        #expect(group.isStill)
        #expect(try #require(qps.last) <= 26, "\(qps)")
        #expect(group.rungChanges == 0)
    }

    @Test("a picture for which there are too few bits is refined for ten seconds")
    func tooFewBits() {
        workshop.behaviour = .coarse
        let ticks = (Int64(0)..<600).filter { tick in
            _ = frame(at: tick)
            return !group.isStill
        }
        #expect((290...320).contains(ticks.last ?? 0), "until tick \(ticks.last ?? 0)")
    }

    @Test("a sharp picture keeps its layers, and takes no keyframe to do without them, until it changes")
    func layers() {
        update(rate: Self.rate, isShared: true, needsLayers: true)
        for tick in Int64(0)..<200 { _ = frame(at: tick) }
        update(rate: Self.rate, isShared: true)
        let frames = (Int64(200)..<500).compactMap { frame(at: $0) }
        #expect(!frames.isEmpty && frames.allSatisfy { !$0.isKeyframe })
        let moving = (500..<520).compactMap { tick in
            frame(at: Int64(tick), of: .pattern(.red, dimensions: Self.dimensions, phase: tick))
        }
        #expect(moving.count { $0.isKeyframe } == 1)
        #expect(moving.last?.statistics.temporalLayer == 0)
    }
}
