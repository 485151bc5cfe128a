import CLibYUV
import MediaCore

/// The calls of libyuv that a composition cannot do without: each source scaled into its tile, and nothing else.
final class BareScaler {
    private let tiles: [PixelRect]
    private let crop: PixelRect
    private let pool: PixelBufferPool
    /// As many as the renderer has at work: the last picture is still being looked at.
    private(set) var shown: PixelBuffer?

    /// - Parameter crop: The size of the part that is taken from each source's middle.
    init(_ tiles: [PixelRect], crop: VideoDimensions, canvas: VideoDimensions) {
        self.tiles = tiles
        let source = Workload.sourceDimensions
        self.crop = PixelRect(
            x: (source.width - crop.width) / 2 & ~1, y: (source.height - crop.height) / 2 & ~1, width: crop.width,
            height: crop.height)
        pool = PixelBufferPool(format: .i420, dimensions: canvas)
    }

    func scale(_ pictures: [PixelBuffer]) {
        var canvas = pool.makeBuffer()
        canvas.withMutablePlanes { target in
            for (picture, tile) in zip(pictures, tiles) {
                picture.withPlanes { source in
                    _ = I420Scale(
                        Self.start(source, 0, crop), Int32(source[0].stride), Self.start(source, 1, crop),
                        Int32(source[1].stride), Self.start(source, 2, crop), Int32(source[2].stride),
                        Int32(crop.width), Int32(crop.height), Self.start(target, 0, tile), Int32(target[0].stride),
                        Self.start(target, 1, tile), Int32(target[1].stride), Self.start(target, 2, tile),
                        Int32(target[2].stride), Int32(tile.width), Int32(tile.height),
                        tile.width <= crop.width ? kFilterBox : kFilterBilinear)
                }
            }
        }
        shown = canvas.freeze()
    }

    private static func start(_ planes: PixelBufferPlanes, _ index: Int, _ rect: PixelRect) -> UnsafeMutablePointer<
        UInt8
    > {
        let (x, y) = index == 0 ? (rect.x, rect.y) : (rect.x / 2, rect.y / 2)
        return (planes[index].base + y * planes[index].stride + x).assumingMemoryBound(to: UInt8.self)
    }
}
