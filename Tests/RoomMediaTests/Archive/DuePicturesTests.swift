import MediaCore
import Testing

@testable import RoomMedia

/// The pictures that a film keeps of a track.
@Suite struct DuePicturesTests {
    private let picture = MutablePixelBuffer(format: .i420, dimensions: VideoDimensions(width: 16, height: 16)).freeze()

    @Test("on the way to a later time, only the newest picture before it is kept")
    func long() {
        var pictures = DuePictures()
        for index in 0..<10_000 {
            pictures.append(picture, at: Double(index) / 30)
            pictures.drop(until: 300)
            #expect(pictures.count <= max(1, index - 9000 + 1))
        }
        #expect(pictures.count == 1000)
        #expect(pictures.picture(at: 300) != nil && pictures.count == 1000)
        #expect(pictures.picture(at: 299) == nil)
    }

    @Test("a picture is there from its time on")
    func due() {
        var pictures = DuePictures()
        pictures.append(picture, at: 1)
        #expect(pictures.picture(at: 0.9) == nil)
        #expect(pictures.picture(at: 1) != nil)
        #expect(pictures.lastTime == 1)
    }
}
