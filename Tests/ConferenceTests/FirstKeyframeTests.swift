import MediaCore
import MediaFixtures
import Testing
import VideoCoding

@testable import Conference

/// The first keyframes of an encoder's sessions, whose limit is far below what the encoder would choose.
@Suite("The first keyframe of a session") struct FirstKeyframeTests {
    private static let rate = BitRate.kilobits(500)
    private static let limit = DataSize(bytes: 5000)

    private let workshop = EncoderWorkshop()

    private func group(
        knowing keyframeSizes: KeyframeSizeModel = KeyframeSizeModel(), rate: BitRate = rate
    ) -> EncodeGroup {
        EncodeGroup(dimensions: Scenery.dimensions, rate: rate, keyframeSizes: keyframeSizes, workshop: workshop)
    }

    /// Has a group encode a picture.
    private func encode(_ picture: PixelBuffer, _ number: Int, by group: EncodeGroup) throws -> EncodedPicture {
        try #require(
            group.encode(picture, keyframeBound: Self.limit, now: .zero + .milliseconds(33) * number),
            "picture \(number) is not encoded")
    }

    @Test("keeps its limit at the first try for pictures of another size")
    func anotherSize() throws {
        let group = group()
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
        let first = group()
        for (number, picture) in Scenery.pictures.enumerated() { _ = try encode(picture, number, by: first) }
        let second = group(knowing: first.keyframeSizes)
        let frame = try encode(try #require(Scenery.pictures.last), 0, by: second).frame
        #expect(try #require(frame).size <= Self.limit)
        try #require(workshop.repeated.count == 2)
        #expect(workshop.repeated[0] >= 1 && workshop.repeated[1] == 0, "\(workshop.repeated)")
    }

    @Test("keeps its limit at the first try after a session that failed, also before a keyframe is due again")
    func afterFailure() throws {
        let group = group(rate: .kilobits(100))
        for number in 0..<6 { #expect(try encode(Scenery.pictures[number], number, by: group).error == nil) }
        workshop.behaviour = .fails
        #expect(try encode(Scenery.pictures[6], 6, by: group).error != nil)
        workshop.behaviour = .usual
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
