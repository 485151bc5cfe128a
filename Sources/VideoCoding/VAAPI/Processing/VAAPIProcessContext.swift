#if VAAPI
    import CLibVA
    import MediaCore
    import PixelTransfer

    /// A driver's video processor with its surfaces, on the thread that makes its calls.
    final class VAAPIProcessContext {
        /// Intel's driver has room for 17 surfaces in a picture; more are laid onto the result of the first ones.
        static let layerLimit = 16

        private let device: VAAPIDevice
        private let display: VAAPIDisplay
        let capabilities: VAAPIProcessingCapabilities
        private var config: VAConfigID = vaInvalid
        private var context: VAContextID = vaInvalid
        private var store = VAAPISurfaceStore()
        private var transfer = VAAPIImageTransfer()
        private var imports = VAAPIImports()
        private var canImport = true
        private var canvases: VAAPICanvasStore?
        private var images = VAAPIImageStore()
        /// Pictures that were copied to the device since it was made.
        private(set) var uploadCount: UInt64 = 0
        private var buffers: [VABufferID] = []
        private var sources: [VASurfaceID] = []
        private let pointees = VAAPIPipelinePointees(count: layerLimit)

        /// - Parameters:
        ///   - canvas: The first canvas's size; others may follow.
        ///   - reader: Reads canvases that stay on the device; nil: none does.
        init(
            _ device: VAAPIDevice, canvas: VideoDimensions, reader: VAAPISurfaceReader?
        ) throws(VideoCodingError) {
            let display = try VAAPIDisplay(device)
            self.display = display
            self.device = device
            canvases = reader.map { VAAPICanvasStore(reader: $0) }
            guard VAAPIProcessingCapabilities.processes(display) else {
                throw .hardwareUnavailable(reason: "\(display.vendor) composes no pictures")
            }
            try VAAPIDisplay.check(
                vaCreateConfig(display.handle, VAProfileNone, VAEntrypointVideoProc, nil, 0, &config),
                "vaCreateConfig")
            do throws(VideoCodingError) {
                try VAAPIDisplay.check(
                    vaCreateContext(
                        display.handle, config, Int32(clamping: canvas.width), Int32(clamping: canvas.height),
                        VA_PROGRESSIVE, nil, 0, &context),
                    "vaCreateContext")
                capabilities = try VAAPIProcessingCapabilities(display, config, context)
            } catch {
                if context != vaInvalid { vaDestroyContext(display.handle, context) }
                vaDestroyConfig(display.handle, config)
                throw error
            }
        }

        deinit {
            images.close(display)
            vaDestroyContext(display.handle, context)
            store.close(display)
            canvases?.close(display)
            imports.close(display)
            vaDestroyConfig(display.handle, config)
        }

        // MARK: A picture

        /// Lays pictures over each other, the lowest first, and reads the result. Pictures that are on the device are
        /// not uploaded again.
        func compose(
            _ layers: [PictureLayer], tick: Int, into canvas: inout MutablePixelBuffer
        ) throws(VideoCodingError) {
            begin(tick)
            let target = try store.take(.nv12, canvas.dimensions, display)
            try process(layers, onto: target, canvas.dimensions)
            try read(target, into: &canvas)
        }

        /// Does the same and leaves the result on the device; nil where that is not possible.
        func composeOnDevice(
            _ layers: [PictureLayer], tick: Int, canvas: VideoDimensions, attachments: PixelBufferAttachments
        ) throws(VideoCodingError) -> PixelBuffer? {
            begin(tick)
            guard let target = try canvases?.take(canvas, display) else {
                canvases?.close(display)
                canvases = nil
                return nil
            }
            try process(layers, onto: target, canvas)
            return canvases?.picture(target, attachments)
        }

        private func begin(_ tick: Int) {
            store.begin(tick: tick, display)
            imports.begin(display)
            canvases?.begin(display)
        }

        private func process(
            _ layers: [PictureLayer], onto target: VASurfaceID, _ canvas: VideoDimensions
        ) throws(VideoCodingError) {
            var next = layers.startIndex
            var below: VASurfaceID?
            repeat {
                let end = min(layers.endIndex, next + Self.layerLimit - (below == nil ? 0 : 1))
                let place = end == layers.endIndex ? target : try store.take(.nv12, canvas, display)
                try process(layers[next..<end], above: below, onto: place, canvas)
                below = place
                next = end
            } while next < layers.endIndex
        }

        private func process(
            _ layers: ArraySlice<PictureLayer>, above below: VASurfaceID?, onto target: VASurfaceID,
            _ canvas: VideoDimensions
        ) throws(VideoCodingError) {
            sources.removeAll(keepingCapacity: true)
            for layer in layers { sources.append(try uploaded(layer.picture)) }
            try VAAPIDisplay.check(vaBeginPicture(display.handle, context, target), "vaBeginPicture")
            defer { destroyBuffers() }
            var fault: VideoCodingError?
            do throws(VideoCodingError) {
                if let below { try render(below, Self.whole(canvas), onto: Self.whole(canvas)) }
                for (layer, source) in zip(layers, sources) {
                    try render(
                        source, Self.region(layer.crop), onto: Self.region(layer.place), rotation: layer.rotation,
                        opacity: layer.opacity, isGraphics: layer.picture.format == .bgra)
                }
            } catch {
                fault = error
            }
            // A begun picture is ended in any case, so that the next one can begin.
            let ended = vaEndPicture(display.handle, context)
            if let fault { throw fault }
            try VAAPIDisplay.check(ended, "vaEndPicture")
            try VAAPIDisplay.check(vaSyncSurface(display.handle, target), "vaSyncSurface")
        }

        private func render(
            _ source: VASurfaceID, _ crop: VARectangle, onto place: VARectangle, rotation: VideoRotation = .none,
            opacity: Opacity = .opaque, isGraphics: Bool = false
        ) throws(VideoCodingError) {
            let index = buffers.count
            pointees.regions[2 * index] = crop
            pointees.regions[2 * index + 1] = place
            var parameters = VAProcPipelineParameterBuffer()
            parameters.surface = source
            parameters.surface_region = UnsafePointer(pointees.regions + 2 * index)
            parameters.output_region = UnsafePointer(pointees.regions + 2 * index + 1)
            parameters.surface_color_standard = capabilities.colourStandard
            parameters.output_color_standard = capabilities.colourStandard
            parameters.input_color_properties.color_range = UInt8(
                isGraphics ? VA_SOURCE_RANGE_FULL : VA_SOURCE_RANGE_REDUCED)
            parameters.output_color_properties.color_range = UInt8(VA_SOURCE_RANGE_REDUCED)
            parameters.rotation_state = rotation.vaRotation
            var flags: Int32 = isGraphics ? VA_BLEND_PREMULTIPLIED_ALPHA : 0
            if opacity != .opaque { flags |= VA_BLEND_GLOBAL_ALPHA }
            if flags != 0 {
                pointees.blending[index] = VABlendState()
                pointees.blending[index].flags = UInt32(bitPattern: flags)
                pointees.blending[index].global_alpha = Float(opacity.parts) / Float(Opacity.opaque.parts)
                parameters.blend_state = UnsafePointer(pointees.blending + index)
            }
            var buffer: VABufferID = vaInvalid
            try VAAPIDisplay.check(
                vaCreateBuffer(
                    display.handle, context, VAProcPipelineParameterBufferType,
                    UInt32(MemoryLayout<VAProcPipelineParameterBuffer>.size), 1, &parameters, &buffer),
                "vaCreateBuffer")
            buffers.append(buffer)
            try VAAPIDisplay.check(vaRenderPicture(display.handle, context, &buffer, 1), "vaRenderPicture")
        }

        private func destroyBuffers() {
            for buffer in buffers { vaDestroyBuffer(display.handle, buffer) }
            buffers.removeAll(keepingCapacity: true)
        }

        private static func whole(_ dimensions: VideoDimensions) -> VARectangle { region(PixelRect(dimensions)) }

        private static func region(_ rect: PixelRect) -> VARectangle {
            VARectangle(
                x: Int16(clamping: rect.x), y: Int16(clamping: rect.y), width: UInt16(clamping: rect.width),
                height: UInt16(clamping: rect.height))
        }

        // MARK: Between memory and the device

        private func uploaded(_ picture: PixelBuffer) throws(VideoCodingError) -> VASurfaceID {
            if let shared = picture.surface as? VAAPISharedSurface, let surface = imported(shared) { return surface }
            if let known = store.surface(showing: picture) { return known }
            let format: PixelFormat = picture.format == .bgra ? .bgra : .nv12
            // Surfaces end with a whole chroma sample.
            let dimensions = VideoDimensions(
                width: (picture.dimensions.width + 1) & ~1, height: (picture.dimensions.height + 1) & ~1)
            let surface = try store.take(format, dimensions, display)
            try transfer.write(display, surface, format == .bgra ? .bgra : .nv12, dimensions) {
                image throws(VideoCodingError) in
                let planes = try image.planes(format, picture.dimensions)
                do throws(PixelTransferError) {
                    try picture.write(to: planes, as: format)
                } catch {
                    throw VideoCodingError.pixelTransferFailed(reason: "\(error)")
                }
            }
            store.keep(picture, in: surface)
            uploadCount &+= 1
            return surface
        }

        /// The memory that another display of the device has filled.
        private func imported(_ shared: VAAPISharedSurface) -> VASurfaceID? {
            guard canImport, shared.device == device else { return nil }
            do throws(VideoCodingError) {
                return try imports.surface(of: shared, display)
            } catch {
                canImport = false
                return nil
            }
        }

        private func read(_ surface: VASurfaceID, into canvas: inout MutablePixelBuffer) throws(VideoCodingError) {
            let dimensions = canvas.dimensions
            try VAAPIImageTransfer.read(display, surface, by: try images.image(for: dimensions, display)) {
                image throws(VideoCodingError) in
                let planes = try image.planes(.nv12, dimensions)
                canvas.withI420Region { $0.convert(nv12: planes) }
            }
        }
    }

    /// The memory that the parameters of a picture's layers point to until it is made.
    private final class VAAPIPipelinePointees {
        /// Of the surface and of the target, in turn.
        let regions: UnsafeMutablePointer<VARectangle>
        let blending: UnsafeMutablePointer<VABlendState>

        init(count: Int) {
            regions = .allocate(capacity: 2 * count)
            regions.initialize(repeating: VARectangle(), count: 2 * count)
            blending = .allocate(capacity: count)
            blending.initialize(repeating: VABlendState(), count: count)
        }

        deinit {
            regions.deallocate()
            blending.deallocate()
        }
    }

    extension VideoRotation {
        fileprivate var vaRotation: UInt32 {
            switch self {
            case .none: UInt32(VA_ROTATION_NONE)
            case .clockwise90: UInt32(VA_ROTATION_90)
            case .rotate180: UInt32(VA_ROTATION_180)
            case .clockwise270: UInt32(VA_ROTATION_270)
            }
        }
    }
#endif
