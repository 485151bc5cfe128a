#if VAAPI
    import CLibVA
    import MediaCore

    /// Canvases that stay on the device: a surface is composed on again when nobody holds its picture any more.
    struct VAAPICanvasStore {
        private struct Canvas {
            let dimensions: VideoDimensions
            let shared: VAAPISharedSurface
            // The memory outlives its surface, so nothing has to wait for pictures.
            var wrapper = PixelBufferWrapper(release: {})
        }

        /// As many as the canvases of a tick and those before that encoders still have.
        private static let maximumCount = 128

        private let reader: VAAPISurfaceReader
        private var surfaces = VAAPISurfaceSlots<Canvas>(patience: 1000)

        init(reader: VAAPISurfaceReader) {
            self.reader = reader
        }

        mutating func begin(_ display: VAAPIDisplay) { surfaces.begin(display) }

        /// A surface to compose on; nil where the driver does not share surfaces.
        mutating func take(
            _ dimensions: VideoDimensions, _ display: VAAPIDisplay
        ) throws(VideoCodingError) -> VASurfaceID? {
            for index in surfaces.slots.indices
            where surfaces.slots[index].content.dimensions == dimensions
                && surfaces.slots[index].content.wrapper.isFree
            {
                return surfaces.use(at: index)
            }
            guard surfaces.slots.count < Self.maximumCount else {
                throw .hardwareUnavailable(reason: "more than \(Self.maximumCount) canvases on the device")
            }
            var surface = try VAAPISurfaceStore.make(.nv12, dimensions, display)
            guard let shared = VAAPISharedSurface(surface, of: display, reader: reader) else {
                vaDestroySurfaces(display.handle, &surface, 1)
                return nil
            }
            surfaces.add(surface, Canvas(dimensions: dimensions, shared: shared))
            return surface
        }

        /// The picture that was composed on a surface.
        mutating func picture(_ surface: VASurfaceID, _ attachments: PixelBufferAttachments) -> PixelBuffer? {
            guard let index = surfaces.slots.firstIndex(where: { $0.surface == surface }) else { return nil }
            let (shared, dimensions) = (
                surfaces.slots[index].content.shared, surfaces.slots[index].content.dimensions
            )
            return surfaces.slots[index].content.wrapper.wrap(
                shared, format: .nv12, dimensions: dimensions, attachments: attachments)
        }

        mutating func close(_ display: VAAPIDisplay) { surfaces.close(display) }
    }
#endif
