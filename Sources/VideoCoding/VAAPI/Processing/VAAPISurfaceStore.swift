#if VAAPI
    import CLibVA
    import MediaCore

    /// The surfaces of a video processor: pictures that were uploaded and may come again, and memory for others.
    struct VAAPISurfaceStore {
        private struct Content {
            let format: PixelFormat
            let dimensions: VideoDimensions
            /// The picture in the surface; nil where its content is not needed any more.
            var picture: PixelBuffer?
            /// The last composition that used it.
            var lastComposition: Int
        }

        private typealias Slot = VAAPISurfaceSlots<Content>.Slot

        /// As many as 25 pictures need, before and after a change of all.
        private static let maximumCount = 128

        /// By ticks. Changes of layout come in runs.
        private var surfaces = VAAPISurfaceSlots<Content>(patience: 300)
        private var composition = 0

        /// Begins a composition. Pictures that were not shown in its tick or the one before are let go.
        mutating func begin(tick: Int, _ display: VAAPIDisplay) {
            composition += 1
            surfaces.begin(turn: tick, display)
            for index in surfaces.slots.indices where surfaces.slots[index].lastTurn < tick - 1 {
                surfaces.slots[index].content.picture = nil
            }
        }

        /// The surface that shows a picture; nil where it was not uploaded.
        mutating func surface(showing picture: PixelBuffer) -> VASurfaceID? {
            guard
                let index = surfaces.slots.firstIndex(where: {
                    $0.content.picture.map { $0 === picture } ?? false
                })
            else { return nil }
            return use(at: index)
        }

        /// A surface whose content nobody needs, until the next composition.
        mutating func take(
            _ format: PixelFormat, _ dimensions: VideoDimensions, _ display: VAAPIDisplay
        ) throws(VideoCodingError) -> VASurfaceID {
            if let index = surfaces.slots.firstIndex(where: {
                $0.content.format == format && $0.content.dimensions == dimensions && isFree($0)
            }) {
                return use(at: index)
            }
            if surfaces.slots.count >= Self.maximumCount {
                guard let free = surfaces.slots.firstIndex(where: isFree) else {
                    throw .hardwareUnavailable(reason: "more than \(Self.maximumCount) pictures on the device")
                }
                surfaces.destroy(at: free, display)
            }
            let surface = try Self.make(format, dimensions, display)
            surfaces.add(
                surface,
                Content(format: format, dimensions: dimensions, picture: nil, lastComposition: composition))
            return surface
        }

        private mutating func use(at index: Int) -> VASurfaceID {
            surfaces.slots[index].content.lastComposition = composition
            return surfaces.use(at: index)
        }

        private func isFree(_ slot: Slot) -> Bool {
            slot.content.picture == nil && slot.content.lastComposition != composition
        }

        /// Takes down what a surface shows.
        mutating func keep(_ picture: PixelBuffer, in surface: VASurfaceID) {
            guard let index = surfaces.slots.firstIndex(where: { $0.surface == surface }) else { return }
            surfaces.slots[index].content.picture = picture
        }

        mutating func close(_ display: VAAPIDisplay) { surfaces.close(display) }

        static func make(
            _ format: PixelFormat, _ dimensions: VideoDimensions, _ display: VAAPIDisplay
        ) throws(VideoCodingError) -> VASurfaceID {
            let isBGRA = format == .bgra
            var attribute = VASurfaceAttrib()
            attribute.type = VASurfaceAttribPixelFormat
            attribute.flags = UInt32(VA_SURFACE_ATTRIB_SETTABLE)
            attribute.value.type = VAGenericValueTypeInteger
            attribute.value.value.i = Int32(bitPattern: isBGRA ? vaBGRA : vaNV12)
            var surface: VASurfaceID = vaInvalid
            try VAAPIDisplay.check(
                vaCreateSurfaces(
                    display.handle, UInt32(isBGRA ? VA_RT_FORMAT_RGB32 : VA_RT_FORMAT_YUV420),
                    UInt32(clamping: dimensions.width), UInt32(clamping: dimensions.height), &surface, 1, &attribute,
                    1), "vaCreateSurfaces")
            return surface
        }
    }
#endif
