#if VAAPI
    import CLibVA
    import MediaCore
    import NIOCore

    /// A driver's encoder with its surfaces, on the thread that makes its calls.
    final class VAAPIEncodeContext {
        /// The parts of one frame.
        struct Frame {
            var picture: ReferenceStructure.Picture
            var rate: VAAPIRateParameters
            /// A constant QP; nil: the driver's rate control decides.
            var qp: Int?
            /// The best QP that the rate control may take; 0 for any.
            var leastQP: Int
        }

        /// Surfaces go round, so that a picture is uploaded while the driver may still hold the last one.
        private static let inputCount = 2

        let display: VAAPIDisplay
        let capabilities: VAAPICapabilities
        let headers: StreamHeaders
        /// `VA_RC_CBR` and the like.
        let rateControl: Int32
        let layers: [Int]
        let codedSize: Int
        private(set) var config: VAConfigID = vaInvalid
        private(set) var context: VAContextID = vaInvalid
        private(set) var coded: VABufferID = vaInvalid
        private var inputs: [VASurfaceID] = []
        private(set) var rebuilt: [VASurfaceID] = []
        private var nextInput = 0
        private var transfer = VAAPIImageTransfer()
        private let device: VAAPIDevice
        private var imports = VAAPIImports()
        private var canImport = true
        private(set) var buffers: [VABufferID] = []

        init(
            _ device: VAAPIDevice, _ properties: CompressionProperties, dimensions: VideoDimensions,
            structure: ReferenceStructure
        ) throws(VideoCodingError) {
            display = try VAAPIDisplay(device)
            self.device = device
            capabilities = try VAAPICapabilities(display, properties.profileLevel.profile)
            headers = StreamHeaders(properties, dimensions: dimensions, structure: structure)
            layers = structure.pattern
            rateControl = try Self.rateControl(properties, capabilities)
            // A frame of more bytes than its samples is none.
            codedSize = headers.coded.width * headers.coded.height * 2 + 65_536
            let largest = capabilities.maximumDimensions
            guard headers.coded.width <= largest.width, headers.coded.height <= largest.height else {
                throw .hardwareUnavailable(reason: "\(display.vendor) encodes at most \(largest), not \(dimensions)")
            }
            guard structure.layers <= capabilities.maximumLayers else {
                throw .hardwareUnavailable(reason: "\(display.vendor) has no \(structure.layers) temporal layers")
            }
            do {
                try open(slots: structure.slotCount)
            } catch {
                close()
                throw error
            }
        }

        deinit {
            close()
        }

        private static func rateControl(
            _ properties: CompressionProperties, _ capabilities: VAAPICapabilities
        ) throws(VideoCodingError) -> Int32 {
            let isOurs = properties.rateControlMode == .quality || properties.controlsDeviceQP
            let wanted = isOurs ? [VA_RC_CQP] : [VA_RC_CBR, VA_RC_VBR]
            guard let mode = wanted.first(where: capabilities.controls) else {
                throw .hardwareUnavailable(
                    reason: "the driver has no rate control for \(properties.rateControlMode.rawValue)")
            }
            return mode
        }

        // MARK: - Opening and closing

        private func open(slots: Int) throws(VideoCodingError) {
            var attributes = [
                VAConfigAttrib(type: VAConfigAttribRTFormat, value: UInt32(VA_RT_FORMAT_YUV420)),
                VAConfigAttrib(type: VAConfigAttribRateControl, value: UInt32(bitPattern: rateControl)),
            ]
            if packedHeaders != 0 {
                attributes.append(VAConfigAttrib(type: VAConfigAttribEncPackedHeaders, value: packedHeaders))
            }
            try VAAPIDisplay.check(
                vaCreateConfig(
                    display.handle, capabilities.profile, capabilities.entryPoint, &attributes,
                    Int32(clamping: attributes.count), &config),
                "vaCreateConfig")
            inputs = try makeSurfaces(Self.inputCount)
            rebuilt = try makeSurfaces(slots)
            var targets = inputs + rebuilt
            let status = vaCreateContext(
                display.handle, config, Int32(clamping: headers.dimensions.width),
                Int32(clamping: headers.dimensions.height), VA_PROGRESSIVE, &targets, Int32(clamping: targets.count),
                &context)
            guard status == VA_STATUS_SUCCESS else {
                throw .hardwareUnavailable(
                    reason: "the driver makes no further encoder (\(String(cString: vaErrorStr(status))))")
            }
            try VAAPIDisplay.check(
                vaCreateBuffer(
                    display.handle, context, VAEncCodedBufferType, UInt32(clamping: codedSize), 1, nil, &coded),
                "vaCreateBuffer")
        }

        /// The headers that are written here: all that the driver takes.
        var packedHeaders: UInt32 {
            let ours = VA_ENC_PACKED_HEADER_SEQUENCE | VA_ENC_PACKED_HEADER_PICTURE | VA_ENC_PACKED_HEADER_SLICE
            return capabilities.packedHeaders & UInt32(bitPattern: ours)
        }

        private func makeSurfaces(_ count: Int) throws(VideoCodingError) -> [VASurfaceID] {
            var surfaces = [VASurfaceID](repeating: vaInvalid, count: count)
            try VAAPIDisplay.check(
                vaCreateSurfaces(
                    display.handle, UInt32(VA_RT_FORMAT_YUV420), UInt32(clamping: headers.coded.width),
                    UInt32(clamping: headers.coded.height), &surfaces, UInt32(clamping: count), nil, 0),
                "vaCreateSurfaces")
            return surfaces
        }

        private func close() {
            destroyBuffers()
            if coded != vaInvalid { vaDestroyBuffer(display.handle, coded) }
            if context != vaInvalid { vaDestroyContext(display.handle, context) }
            imports.close(display)
            var surfaces = inputs + rebuilt
            if !surfaces.isEmpty { vaDestroySurfaces(display.handle, &surfaces, Int32(clamping: surfaces.count)) }
            if config != vaInvalid { vaDestroyConfig(display.handle, config) }
            (coded, context, config) = (vaInvalid, vaInvalid, vaInvalid)
            (inputs, rebuilt) = ([], [])
        }

        // MARK: - A frame

        /// Encodes a picture, and calls `body` with each piece of the stream in turn and the frame's mean QP.
        func encode(
            _ picture: PixelBuffer, _ frame: Frame, _ body: (UnsafeRawBufferPointer, _ meanQP: Int) -> Void
        ) throws(VideoCodingError) {
            let input = try input(picture)
            defer { destroyBuffers() }
            try makeBuffers(of: frame)
            try VAAPIDisplay.check(vaBeginPicture(display.handle, context, input), "vaBeginPicture")
            let rendered = vaRenderPicture(display.handle, context, &buffers, Int32(clamping: buffers.count))
            // A begun picture is ended in any case, so that the next one can begin.
            let ended = vaEndPicture(display.handle, context)
            try VAAPIDisplay.check(rendered, "vaRenderPicture")
            try VAAPIDisplay.check(ended, "vaEndPicture")
            try VAAPIDisplay.check(vaSyncSurface(display.handle, input), "vaSyncSurface")
            try read(body)
        }

        private func read(_ body: (UnsafeRawBufferPointer, _ meanQP: Int) -> Void) throws(VideoCodingError) {
            var mapped: UnsafeMutableRawPointer?
            try VAAPIDisplay.check(vaMapBuffer(display.handle, coded, &mapped), "vaMapBuffer")
            var segment = mapped?.assumingMemoryBound(to: VACodedBufferSegment.self)
            var hasOverflown = false
            while let current = segment {
                let size = Int(current.pointee.size)
                if current.pointee.status & UInt32(VA_CODED_BUF_STATUS_SLICE_OVERFLOW_MASK) != 0 || size > codedSize {
                    hasOverflown = true
                } else if let bytes = current.pointee.buf {
                    body(
                        UnsafeRawBufferPointer(start: bytes, count: size),
                        Int(current.pointee.status & UInt32(VA_CODED_BUF_STATUS_PICTURE_AVE_QP_MASK)))
                }
                segment = current.pointee.next?.assumingMemoryBound(to: VACodedBufferSegment.self)
            }
            try VAAPIDisplay.check(vaUnmapBuffer(display.handle, coded), "vaUnmapBuffer")
            if hasOverflown { throw .hardwareFailed(call: "vaMapBuffer", code: Int(VA_STATUS_ERROR_ENCODING_ERROR)) }
        }

        func makeBuffer(
            _ type: VABufferType, _ bytes: UnsafeMutableRawPointer, _ size: Int
        ) throws(VideoCodingError) {
            var buffer: VABufferID = vaInvalid
            try VAAPIDisplay.check(
                vaCreateBuffer(display.handle, context, type, UInt32(clamping: size), 1, bytes, &buffer),
                "vaCreateBuffer")
            buffers.append(buffer)
        }

        private func destroyBuffers() {
            for buffer in buffers { vaDestroyBuffer(display.handle, buffer) }
            buffers.removeAll(keepingCapacity: true)
        }

        // MARK: - Input

        /// The surface of a picture that is on the device already, or one that it was uploaded to.
        private func input(_ picture: PixelBuffer) throws(VideoCodingError) -> VASurfaceID {
            if canImport, let shared = picture.surface as? VAAPISharedSurface, shared.device == device {
                imports.begin(display)
                do throws(VideoCodingError) {
                    return try imports.surface(of: shared, display)
                } catch {
                    canImport = false
                }
            }
            let input = inputs[nextInput]
            nextInput = (nextInput + 1) % inputs.count
            try upload(picture, to: input)
            return input
        }

        /// Copies a picture and repeats its last row and column up to whole macroblocks, which then cost next to
        /// nothing to encode.
        private func upload(_ picture: PixelBuffer, to surface: VASurfaceID) throws(VideoCodingError) {
            let coded = headers.coded
            try transfer.write(display, surface, .nv12, coded) { image throws(VideoCodingError) in
                let planes = try image.planes(.nv12, coded)
                Self.copy(picture, plane: 0, to: planes[0], coded: coded)
                Self.copy(picture, plane: 1, to: planes[1], coded: coded)
            }
        }

        private static func copy(
            _ picture: PixelBuffer, plane: Int, to target: PixelBufferPlane, coded: VideoDimensions
        ) {
            let width = picture.dimensions.width
            let (rows, allRows) =
                plane == 0
                ? (picture.dimensions.height, coded.height)
                : (
                    picture.dimensions.height / 2, coded.height / 2
                )
            picture.withPlane(plane) { bytes, stride in
                guard let source = bytes.baseAddress else { return }
                for row in 0..<allRows {
                    let target = target.base + row * target.stride
                    target.copyMemory(from: source + min(row, rows - 1) * stride, byteCount: width)
                    // A sample of chroma is a pair of bytes.
                    for column in width..<coded.width {
                        let last = plane == 0 ? width - 1 : width - 2 + (column & 1)
                        target.storeBytes(
                            of: target.load(fromByteOffset: last, as: UInt8.self), toByteOffset: column, as: UInt8.self)
                    }
                }
            }
        }
    }

    /// `VA_INVALID_ID`: no object.
    let vaInvalid: UInt32 = 0xFFFF_FFFF
#endif
