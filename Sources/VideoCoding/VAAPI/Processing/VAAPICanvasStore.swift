#if VAAPI
    import CLibVA
    import MediaCore

    /// Canvases that stay on the device: a surface is composed on again when nobody holds its picture any more.
    struct VAAPICanvasStore {
        private struct Slot {
            let surface: VASurfaceID
            let dimensions: VideoDimensions
            let shared: VAAPISharedSurface
            // The memory outlives its surface, so nothing has to wait for pictures.
            var wrapper = PixelBufferWrapper(release: {})
            var lastTurn: Int
        }

        /// As many as the canvases of a tick and those before that encoders still have.
        private static let maximumCount = 128
        private static let patience = 1000

        private let reader: VAAPISurfaceReader
        private var slots: [Slot] = []
        private var turn = 0

        init(reader: VAAPISurfaceReader) {
            self.reader = reader
        }

        /// Begins a composition. Surfaces that were not used for long are let go.
        mutating func begin(_ display: VAAPIDisplay) {
            turn += 1
            while let index = slots.firstIndex(where: { $0.lastTurn < turn - Self.patience }) {
                destroy(at: index, display)
            }
        }

        /// A surface to compose on; nil where the driver does not share surfaces.
        mutating func take(
            _ dimensions: VideoDimensions, _ display: VAAPIDisplay
        ) throws(VideoCodingError) -> VASurfaceID? {
            for index in slots.indices where slots[index].dimensions == dimensions && slots[index].wrapper.isFree {
                slots[index].lastTurn = turn
                return slots[index].surface
            }
            guard slots.count < Self.maximumCount else {
                throw .hardwareUnavailable(reason: "more than \(Self.maximumCount) canvases on the device")
            }
            var surface = try VAAPISurfaceStore.make(.nv12, dimensions, display)
            guard let shared = VAAPISharedSurface(surface, of: display, reader: reader) else {
                vaDestroySurfaces(display.handle, &surface, 1)
                return nil
            }
            slots.append(Slot(surface: surface, dimensions: dimensions, shared: shared, lastTurn: turn))
            return surface
        }

        /// The picture that was composed on a surface.
        mutating func picture(_ surface: VASurfaceID, _ attachments: PixelBufferAttachments) -> PixelBuffer? {
            guard let index = slots.firstIndex(where: { $0.surface == surface }) else { return nil }
            return slots[index].wrapper.wrap(
                slots[index].shared, format: .nv12, dimensions: slots[index].dimensions, attachments: attachments)
        }

        mutating func close(_ display: VAAPIDisplay) {
            while !slots.isEmpty { destroy(at: slots.count - 1, display) }
        }

        private mutating func destroy(at index: Int, _ display: VAAPIDisplay) {
            var surface = slots.remove(at: index).surface
            vaDestroySurfaces(display.handle, &surface, 1)
        }
    }
#endif
