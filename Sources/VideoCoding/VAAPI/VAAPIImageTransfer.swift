#if VAAPI
    import CLibVA
    import MediaCore

    /// Reads and writes surfaces through images, on the thread of their display.
    struct VAAPIImageTransfer {
        /// False once a driver showed no surface's own memory: tiled ones are written through an image beside them.
        private var canDerive = true

        /// Lets `body` write a whole surface.
        mutating func write(
            _ display: VAAPIDisplay, _ surface: VASurfaceID, _ format: VAImageFormat, _ dimensions: VideoDimensions,
            _ body: (VAAPIMappedImage) throws(VideoCodingError) -> Void
        ) throws(VideoCodingError) {
            var image = VAImage()
            if canDerive {
                if vaDeriveImage(display.handle, surface, &image) == VA_STATUS_SUCCESS {
                    defer { vaDestroyImage(display.handle, image.image_id) }
                    if image.format.fourcc == format.fourcc { return try Self.map(display, image, body) }
                }
                canDerive = false
            }
            image = try Self.makeImage(display, format, dimensions)
            defer { vaDestroyImage(display.handle, image.image_id) }
            try Self.map(display, image, body)
            let (width, height) = (UInt32(clamping: dimensions.width), UInt32(clamping: dimensions.height))
            try VAAPIDisplay.check(
                vaPutImage(
                    display.handle, surface, image.image_id, 0, 0, width, height, 0, 0, width, height),
                "vaPutImage")
        }

        /// Has `body` read all of a surface, by way of an image of its size: what a GPU has written is slow to read
        /// where it lies.
        static func read(
            _ display: VAAPIDisplay, _ surface: VASurfaceID, by image: VAImage,
            _ body: (VAAPIMappedImage) throws(VideoCodingError) -> Void
        ) throws(VideoCodingError) {
            try VAAPIDisplay.check(
                vaGetImage(
                    display.handle, surface, 0, 0, UInt32(image.width), UInt32(image.height), image.image_id),
                "vaGetImage")
            try map(display, image, body)
        }

        static func makeImage(
            _ display: VAAPIDisplay, _ format: VAImageFormat, _ dimensions: VideoDimensions
        ) throws(VideoCodingError) -> VAImage {
            var (format, image) = (format, VAImage())
            try VAAPIDisplay.check(
                vaCreateImage(
                    display.handle, &format, Int32(clamping: dimensions.width), Int32(clamping: dimensions.height),
                    &image),
                "vaCreateImage")
            return image
        }

        private static func map(
            _ display: VAAPIDisplay, _ image: VAImage, _ body: (VAAPIMappedImage) throws(VideoCodingError) -> Void
        ) throws(VideoCodingError) {
            var mapped: UnsafeMutableRawPointer?
            try VAAPIDisplay.check(vaMapBuffer(display.handle, image.buf, &mapped), "vaMapBuffer")
            var fault: VideoCodingError?
            if let mapped {
                do throws(VideoCodingError) {
                    let memory = UnsafeMutableRawBufferPointer(start: mapped, count: Int(image.data_size))
                    try body(VAAPIMappedImage(image: image, memory: memory))
                } catch {
                    fault = error
                }
            }
            try VAAPIDisplay.check(vaUnmapBuffer(display.handle, image.buf), "vaUnmapBuffer")
            if let fault { throw fault }
        }
    }

    /// An image's memory. Valid only while it is mapped.
    struct VAAPIMappedImage {
        let image: VAImage
        let memory: UnsafeMutableRawBufferPointer

        /// The planes of a picture in the image.
        ///
        /// - Throws: Where the image is too small for it.
        func planes(
            _ format: PixelFormat, _ dimensions: VideoDimensions
        ) throws(VideoCodingError) -> PixelBufferPlanes {
            let first = try plane(0, format, dimensions)
            guard format.planeCount > 1 else { return PixelBufferPlanes(first) }
            return PixelBufferPlanes(first, try plane(1, format, dimensions))
        }

        private func plane(
            _ index: Int, _ format: PixelFormat, _ dimensions: VideoDimensions
        ) throws(VideoCodingError) -> PixelBufferPlane {
            let (offset, pitch) =
                index == 0
                ? (Int(image.offsets.0), Int(image.pitches.0)) : (Int(image.offsets.1), Int(image.pitches.1))
            let (rowBytes, rows) = format.planeSize(index, of: dimensions)
            guard let base = memory.baseAddress, pitch >= rowBytes,
                offset + pitch * (rows - 1) + rowBytes <= memory.count
            else { throw .hardwareFailed(call: "vaMapBuffer", code: Int(VA_STATUS_ERROR_INVALID_IMAGE_FORMAT)) }
            return PixelBufferPlane(base: base + offset, stride: pitch, rows: rows)
        }
    }

    extension VAImageFormat {
        static var nv12: VAImageFormat {
            var format = VAImageFormat()
            format.fourcc = vaNV12
            format.byte_order = UInt32(VA_LSB_FIRST)
            format.bits_per_pixel = 12
            return format
        }

        static var bgra: VAImageFormat {
            var format = VAImageFormat()
            format.fourcc = vaBGRA
            format.byte_order = UInt32(VA_LSB_FIRST)
            format.bits_per_pixel = 32
            format.depth = 32
            (format.red_mask, format.green_mask, format.blue_mask) = (0xFF0000, 0xFF00, 0xFF)
            format.alpha_mask = 0xFF00_0000
            return format
        }
    }

    /// `VA_FOURCC_NV12`.
    let vaNV12: UInt32 = 0x3231_564E
    /// `VA_FOURCC_BGRA`.
    let vaBGRA: UInt32 = 0x4152_4742
#endif
