import MediaCore
import Testing

@testable import ConferenceClient

@Suite("Sizes by the tile")
struct SendSizeTests {
    private let source = VideoDimensions(width: 1280, height: 720)

    @Test(
        "the smallest of few sizes that covers the tile is sent",
        arguments: [
            (1280, 720, 1280), (1000, 700, 1280), (960, 540, 960), (640, 360, 640), (426, 240, 640), (320, 180, 320),
            (100, 56, 320), (0, 0, 320), (4000, 3000, 1280),
        ])
    func sizes(width: Int, height: Int, expected: Int) {
        let size = SendSize.dimensions(of: source, in: VideoDimensions(width: width, height: height))
        #expect(size == VideoDimensions(width: expected, height: expected * 9 / 16))
    }

    @Test("a picture that stands upright in a wide tile is sent as high as the tile")
    func avatar() {
        let size = SendSize.dimensions(
            of: VideoDimensions(width: 720, height: 1280), in: VideoDimensions(width: 1280, height: 640))
        #expect(size == VideoDimensions(width: 360, height: 640))
    }
}
