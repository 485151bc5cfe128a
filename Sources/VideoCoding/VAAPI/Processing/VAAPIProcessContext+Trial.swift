#if VAAPI
    import MediaCore
    import PixelTransfer

    extension VAAPIProcessContext {
        private static let canvas = VideoDimensions(width: 256, height: 128)
        private static let dark: UInt8 = 40
        private static let light: UInt8 = 200
        /// The largest error of a sample.
        private static let tolerance = 3

        /// Has a device lay a small light picture over a dark one, and looks at the result: there are drivers that name
        /// the entry point and show but one picture.
        static func tryOut(_ device: VAAPIDevice) throws(VideoCodingError) {
            let context = try VAAPIProcessContext(device, canvas: canvas, reader: nil)
            let place = PixelRect(x: 128, y: 64, width: 64, height: 32)
            let layers = [
                PictureLayer(picture(dark), crop: PixelRect(canvas), place: PixelRect(canvas)),
                PictureLayer(picture(light), crop: PixelRect(canvas), place: place),
            ]
            var result = MutablePixelBuffer(format: .i420, dimensions: canvas)
            try context.compose(layers, tick: 0, into: &result)
            let isRight = result.withMutablePlane(0) { bytes, stride in
                func shows(_ luma: UInt8, _ x: Int, _ y: Int) -> Bool {
                    abs(Int(bytes[y * stride + x]) - Int(luma)) <= tolerance
                }
                let (inside, outside) = ((place.x + place.width / 2, place.y + place.height / 2), (16, 16))
                return shows(light, inside.0, inside.1) && shows(dark, outside.0, outside.1)
                    && shows(dark, canvas.width - 16, canvas.height - 16)
            }
            guard isRight else {
                throw .hardwareUnavailable(reason: "the driver does not lay one picture over another")
            }
        }

        private static func picture(_ luma: UInt8) -> PixelBuffer {
            var picture = MutablePixelBuffer(format: .i420, dimensions: canvas)
            picture.withI420Region { $0.fill(luma: luma) }
            return picture.freeze()
        }
    }
#endif
