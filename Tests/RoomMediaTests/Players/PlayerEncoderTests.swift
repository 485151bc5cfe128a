import MediaCore
import RoomAPI
import Testing

@testable import RoomMedia

/// The encoding of a player's pictures for recordings and other relays.
@Suite struct PlayerEncoderTests {
    private let canvas = VideoDimensions(width: 320, height: 180)

    private func picture(_ width: Int, _ height: Int) -> PixelBuffer {
        MutablePixelBuffer(format: .i420, dimensions: VideoDimensions(width: width, height: height)).freeze()
    }

    private func demand(keyframe: Bool = false) -> PlayerPictureDemand {
        PlayerPictureDemand(tile: canvas, rate: .kilobits(400), needsKeyframe: keyframe)
    }

    private func time(_ frame: Int) -> MonotonicInstant { .zero + .milliseconds(40 * frame + 1) }

    @Test("nothing is encoded that nobody wants, and what follows begins with a keyframe")
    func demanded() {
        var encoder = PlayerEncoder()
        let samples = (0..<9).map { frame in
            encoder.encode(picture(320, 180), for: (3..<6).contains(frame) ? nil : demand(), now: time(frame))
        }
        #expect(samples.map { $0 == nil } == [false, false, false, true, true, true, false, false, false])
        #expect(samples.compactMap(\.self).map(\.isSync) == [true, false, false, true, false, false])
    }

    @Test("a keyframe comes where it is asked for, and after a frame that was lost")
    func keyframes() {
        var encoder = PlayerEncoder()
        let syncs = (0..<8).map { frame -> Bool? in
            if frame == 6 { encoder.lostFrame() }
            return encoder.encode(picture(320, 180), for: demand(keyframe: frame == 3), now: time(frame))?.isSync
        }
        #expect(syncs == [true, false, false, true, false, false, true, false])
    }

    @Test("large pictures fit the tile, small ones stay as they are, and another size begins with a keyframe")
    func sizes() {
        var encoder = PlayerEncoder()
        let sizes = [(1280, 720), (1280, 720), (160, 120), (80, 400)]
        let samples = sizes.enumerated().map { frame, size in
            encoder.encode(picture(size.0, size.1), for: demand(), now: time(frame))
        }
        #expect(
            samples.map { $0?.format.dimensions } == [
                canvas, canvas, VideoDimensions(width: 160, height: 120), VideoDimensions(width: 36, height: 180),
            ])
        #expect(samples.map { $0?.isSync } == [true, false, true, true])
    }
}
