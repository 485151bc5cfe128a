#if VAAPI
    import CLibVA
    import MediaCore

    /// The images by which a display's surfaces are read, one for each size.
    struct VAAPIImageStore {
        private var images: [VideoDimensions: VAImage] = [:]

        /// Sizes whose images are kept.
        private static let maximumCount = 8

        /// An image for NV12.
        mutating func image(
            for dimensions: VideoDimensions, _ display: VAAPIDisplay
        ) throws(VideoCodingError) -> VAImage {
            if let known = images[dimensions] { return known }
            if images.count >= Self.maximumCount { close(display) }
            let image = try VAAPIImageTransfer.makeImage(display, .nv12, dimensions)
            images[dimensions] = image
            return image
        }

        mutating func close(_ display: VAAPIDisplay) {
            for image in images.values { vaDestroyImage(display.handle, image.image_id) }
            images.removeAll(keepingCapacity: true)
        }
    }
#endif
