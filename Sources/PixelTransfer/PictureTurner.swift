public import MediaCore

/// Makes pictures upright that stand on their side or on their head. Safe to use from any thread.
public final class PictureTurner: Sendable {
    private let rotation: VideoRotation
    private let results = RecentPool()

    public init(_ rotation: VideoRotation) {
        self.rotation = rotation
    }

    /// The upright picture of an I420 picture. A part that is meant to be seen is not kept.
    public func turn(_ picture: PixelBuffer) -> PixelBuffer {
        precondition(picture.format == .i420, "a picture of three planes")
        var result = results.makeBuffer(.i420, rotation.upright(picture.dimensions))
        result.attachments = PixelBufferAttachments(
            colour: picture.attachments.colour,
            pixelAspectRatio: rotation.upright(picture.attachments.pixelAspectRatio))
        result.withI420Region { region in
            picture.withPlanes { planes in
                region.rotate(I420Region(planes: planes, dimensions: picture.dimensions), by: rotation)
            }
        }
        return result.freeze()
    }
}
