import Compositing
import EncoderSharing
import MediaCore
import Testing

@testable import Conference

/// What a receiver's view says of the pictures that it needs.
@Suite struct RoomSceneTests {
    private func layer(_ source: SourceID, width: Int) -> CompositionLayer {
        CompositionLayer(source: source, rect: PixelRect(x: 0, y: 0, width: width, height: 360))
    }

    @Test("detail is preferred to motion if a screen takes a quarter of the picture")
    func preference() {
        let canvas = VideoDimensions(width: 1280, height: 720)
        func prefersDetail(_ layers: CompositionLayer...) -> Bool {
            CompositionView(layers: layers).preference(on: canvas) == .detail
        }
        #expect(prefersDetail(layer(.screenShare(1), width: 640), layer(.camera(2), width: 1280)))
        #expect(!prefersDetail(layer(.screenShare(1), width: 638), layer(.camera(2), width: 1280)))
        #expect(!prefersDetail(layer(.camera(2), width: 1280)))
    }
}
