import EncoderSharing
import MediaCore
import Testing
import VideoCoding

@testable import Conference

/// The behaviour of an encoder whose pictures exceed their bound at every QP.
@Suite("Frames larger than their bound") struct CoarsestFrameTests {
    private static let dimensions = VideoDimensions(width: 320, height: 180)
    private static let rate = BitRate.kilobits(100)
    private static let bound = DataSize(bytes: 2000)

    private let group = EncodeGroup(dimensions: dimensions, rate: rate)

    private func noise(_ generator: inout SeededGenerator) -> PixelBuffer {
        var picture = MutablePixelBuffer(format: .i420, dimensions: Self.dimensions)
        for plane in 0..<3 {
            picture.withMutablePlane(plane) { bytes, _ in
                for index in bytes.indices { bytes[index] = UInt8.random(in: 0...255, using: &generator) }
            }
        }
        return picture.freeze()
    }

    @Test("noise is sent after a few pictures, in frames above their limit, and continues to be sent")
    func noiseIsSent() throws {
        var generator = SeededGenerator(seed: 7)
        var sizes: [DataSize?] = []
        for tick in Int64(0)..<40 {
            let encoded = group.encode(
                noise(&generator), keyframeBound: Self.bound, now: .zero + .milliseconds(33) * tick)
            guard let result = encoded else { continue }
            #expect(result.error == nil)
            sizes.append(result.frame?.size)
        }
        let first = try #require(sizes.firstIndex { $0 != nil })
        #expect((1...5).contains(first), "\(first) were left out")
        #expect(try #require(sizes[first]) > Self.bound)
        #expect(sizes[first...].count { $0 != nil } > 20, "\(sizes)")
        #expect(group.framesLeftOut == sizes.count { $0 == nil })
    }

    @Test("the coarsest size falls slightly with each try, and never exceeds a picture's size")
    func bounds() {
        var coarsest = CoarsestFrame()
        func leaveOut(times: Int) {
            for _ in 0..<times { coarsest.leftOut(bound: DataSize(bytes: 1000), dimensions: Self.dimensions) }
        }
        leaveOut(times: 2)
        #expect(coarsest.size == DataSize(bytes: 4000))
        leaveOut(times: 100)
        #expect(coarsest.size == DataSize(bytes: 320 * 180 * 3 / 2))
        for _ in 0..<100 { coarsest.keyframeEncoded() }
        #expect(coarsest.size < DataSize(bytes: 1000))
    }
}
