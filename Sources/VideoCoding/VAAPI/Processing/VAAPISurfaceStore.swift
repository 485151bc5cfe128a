#if VAAPI
    import CLibVA
    import MediaCore

    /// The surfaces of a video processor: pictures that were uploaded and may come again, and memory for others.
    struct VAAPISurfaceStore {
        struct Slot {
            let surface: VASurfaceID
            let format: PixelFormat
            let dimensions: VideoDimensions
            /// The picture in the surface; nil where its content is not needed any more.
            var picture: PixelBuffer?
            var lastTick: Int
            /// The last composition that used it.
            var lastTurn: Int
        }

        /// As many as 25 pictures need, before and after a change of all.
        private static let maximumCount = 128
        /// Changes of layout come in runs.
        private static let patience = 300

        private var slots: [Slot] = []
        private var tick = 0
        private var turn = 0

        /// Begins a composition. Pictures that were not shown in its tick or the one before are let go.
        mutating func begin(tick: Int, _ display: VAAPIDisplay) {
            self.tick = tick
            turn += 1
            var index = 0
            while index < slots.count {
                if slots[index].lastTick < tick - 1 { slots[index].picture = nil }
                if slots[index].lastTick < tick - Self.patience {
                    destroy(at: index, display)
                } else {
                    index += 1
                }
            }
        }

        /// The surface that shows a picture; nil where it was not uploaded.
        mutating func surface(showing picture: PixelBuffer) -> VASurfaceID? {
            guard let index = slots.firstIndex(where: { $0.picture.map { $0 === picture } ?? false }) else {
                return nil
            }
            (slots[index].lastTick, slots[index].lastTurn) = (tick, turn)
            return slots[index].surface
        }

        /// A surface whose content nobody needs, until the next composition.
        mutating func take(
            _ format: PixelFormat, _ dimensions: VideoDimensions, _ display: VAAPIDisplay
        ) throws(VideoCodingError) -> VASurfaceID {
            if let index = slots.firstIndex(where: {
                $0.format == format && $0.dimensions == dimensions && isFree($0)
            }) {
                (slots[index].lastTick, slots[index].lastTurn) = (tick, turn)
                return slots[index].surface
            }
            if slots.count >= Self.maximumCount {
                guard let free = slots.firstIndex(where: isFree) else {
                    throw .hardwareUnavailable(reason: "more than \(Self.maximumCount) pictures on the device")
                }
                destroy(at: free, display)
            }
            let surface = try Self.make(format, dimensions, display)
            slots.append(
                Slot(
                    surface: surface, format: format, dimensions: dimensions, picture: nil, lastTick: tick,
                    lastTurn: turn))
            return surface
        }

        private func isFree(_ slot: Slot) -> Bool { slot.picture == nil && slot.lastTurn != turn }

        /// Takes down what a surface shows.
        mutating func keep(_ picture: PixelBuffer, in surface: VASurfaceID) {
            guard let index = slots.firstIndex(where: { $0.surface == surface }) else { return }
            slots[index].picture = picture
        }

        mutating func close(_ display: VAAPIDisplay) {
            while !slots.isEmpty { destroy(at: slots.count - 1, display) }
        }

        private mutating func destroy(at index: Int, _ display: VAAPIDisplay) {
            var surface = slots.remove(at: index).surface
            vaDestroySurfaces(display.handle, &surface, 1)
        }

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
