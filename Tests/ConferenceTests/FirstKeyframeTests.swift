import CongestionControl
import EncoderSharing
import LoadControl
import MediaCore
import MediaFixtures
import Synchronization
import Testing
import VideoCoding

@testable import Conference

/// The first keyframes of an encoder's sessions, whose limit is far below what the encoder would choose.
@Suite("The first keyframe of a session") struct FirstKeyframeTests {
    private static let rate = VideoBitRate(target: .kilobits(500), sustained: .kilobits(500))
    private static let limit = DataSize(bytes: 5000)

    /// Makes sessions, and keeps them to ask how often they encoded a picture again.
    private final class Workshop: Sendable {
        private let sessions = Mutex<[CompressionSession]>([])

        var repeated: [Int] { sessions.withLock { $0.map(\.statistics.framesRepeated) } }

        /// - Parameter failure: The picture at which the first session fails; nil: none.
        func group(
            knowing keyframeSizes: KeyframeSizeModel, rate: VideoBitRate = FirstKeyframeTests.rate,
            failingAt failure: Int? = nil
        ) -> EncodeGroup {
            let format = EncodeFormat(dimensions: Scenery.dimensions, properties: CompressionProperties())
            return EncodeGroup(
                id: EncodeGroupID(rawValue: 1), queue: JobQueueID(rawValue: 1), format: format,
                encoder: LazyEncoder(
                    backEnd: .openH264,
                    make: { dimensions, properties throws(VideoCodingError) in
                        let made = try SessionPictureEncoder(
                            dimensions: dimensions, backEnd: .openH264, properties: properties)
                        let number = self.sessions.withLock { sessions in
                            sessions.append(made.session)
                            return sessions.count
                        }
                        return failure.map { FailingEncoder(made, at: number == 1 ? $0 : .max) } ?? made
                    },
                    format: format),
                bitRate: rate,
                rung: RungSelector(
                    ladder: Ladder(canvas: Scenery.dimensions, frameRate: 30, preference: .motion),
                    rate: rate.sustained),
                keyframeSizes: keyframeSizes, keyframeShare: 0.05)
        }
    }

    /// Fails at one picture, as an encoder without memory does.
    private final class FailingEncoder: PictureEncoding {
        private let encoder: SessionPictureEncoder
        private var picturesLeft: Int

        init(_ encoder: SessionPictureEncoder, at number: Int) {
            self.encoder = encoder
            picturesLeft = number
        }

        var dimensions: VideoDimensions { encoder.dimensions }

        func setProperties(_ change: (inout CompressionProperties) -> Void) throws(VideoCodingError) {
            try encoder.setProperties(change)
        }

        func encode(
            _ picture: PixelBuffer, presentationTime: MediaTime, options: EncodeOptions
        ) throws(VideoCodingError) -> EncodedFrame? {
            guard picturesLeft > 0 else { throw .codecUnavailable(reason: "no memory") }
            picturesLeft -= 1
            return try encoder.encode(picture, presentationTime: presentationTime, options: options)
        }
    }

    /// Has a group encode a picture.
    private func encode(_ picture: PixelBuffer, _ number: Int, by group: EncodeGroup) throws -> EncodedPicture {
        let now = MonotonicInstant.zero + .milliseconds(33) * number
        var tick = ComposedTick(
            captureTime: now, composed: [], plan: ViewPlan(), frames: [], sourceCount: 0, handedOut: now)
        tick.pictures = [picture]
        tick.sources = [[]]
        let request = EncodeGroup.Request(
            tick: tick, index: 0, room: "room", deadline: now, limits: WorkLimits(), tickRate: 30)
        var demand = EncodeGroup.Demand(activeHasRoom: true)
        demand.bound(to: Self.limit)
        guard case .encoded(let job) = group.tick(request, demand: demand, now: now) else {
            Issue.record("picture \(number) is not encoded")
            throw CancellationError()
        }
        let completion = job.run { now }
        guard case .encoded(_, let result) = completion.output else { throw CancellationError() }
        group.complete(result, of: completion)
        return result
    }

    @Test("keeps its limit at the first try for pictures of another size")
    func anotherSize() throws {
        let workshop = Workshop()
        let group = workshop.group(knowing: KeyframeSizeModel())
        let larger = Scenery.pictures.prefix(3).map(doubled)
        for (number, picture) in (Scenery.pictures + larger).enumerated() {
            let size = try encode(picture, number, by: group).frame?.size
            if picture.dimensions != Scenery.dimensions { #expect(try #require(size) <= Self.limit) }
        }
        try #require(workshop.repeated.count == 2)
        #expect(workshop.repeated[0] >= 1 && workshop.repeated[1] == 0, "\(workshop.repeated)")
    }

    @Test("keeps its limit at the first try in a group whose content another group knows")
    func anotherGroup() throws {
        let workshop = Workshop()
        let first = workshop.group(knowing: KeyframeSizeModel())
        for (number, picture) in Scenery.pictures.enumerated() { _ = try encode(picture, number, by: first) }
        let second = workshop.group(knowing: first.keyframeSizes)
        let frame = try encode(try #require(Scenery.pictures.last), 0, by: second).frame
        #expect(try #require(frame).size <= Self.limit)
        try #require(workshop.repeated.count == 2)
        #expect(workshop.repeated[0] >= 1 && workshop.repeated[1] == 0, "\(workshop.repeated)")
    }

    @Test("keeps its limit at the first try after a session that failed, also before a keyframe is due again")
    func afterFailure() throws {
        let workshop = Workshop()
        let rate = VideoBitRate(target: .kilobits(100), sustained: .kilobits(100))
        let group = workshop.group(knowing: KeyframeSizeModel(), rate: rate, failingAt: 6)
        for number in 0..<6 { #expect(try encode(Scenery.pictures[number], number, by: group).error == nil) }
        #expect(try encode(Scenery.pictures[6], 6, by: group).error != nil)
        #expect(group.nextKeyframe > .zero + .milliseconds(33) * 14)
        let frame = try encode(Scenery.pictures[14], 14, by: group).frame
        #expect(frame?.isKeyframe == true)
        try #require(workshop.repeated.count == 2)
        #expect(workshop.repeated[0] >= 1 && workshop.repeated[1] == 0, "\(workshop.repeated)")
    }

    private func doubled(_ picture: PixelBuffer) -> PixelBuffer {
        let dimensions = VideoDimensions(width: picture.dimensions.width * 2, height: picture.dimensions.height * 2)
        var buffer = MutablePixelBuffer(format: .i420, dimensions: dimensions)
        for plane in 0..<3 {
            let (width, height) = PixelFormat.i420.planeSize(plane, of: dimensions)
            picture.withPlane(plane) { source, sourceStride in
                buffer.withMutablePlane(plane) { bytes, stride in
                    for y in 0..<height {
                        for x in 0..<width { bytes[y * stride + x] = source[y / 2 * sourceStride + x / 2] }
                    }
                }
            }
        }
        return buffer.freeze()
    }
}
