#if X264
    import CX264
    import MediaCore
    import NIOCore

    /// x264 on one thread: in real time without any delay, else with lookahead and, where frames may be reordered,
    /// B-frames.
    final class X264Encoder: EncoderBackEndSession {
        private(set) var parameterSets: [ByteBuffer] = []
        let isDelayed: Bool

        private let encoder: OpaquePointer
        private var parameters: x264_param_t
        private var properties: CompressionProperties
        /// The frame rate in x264's settings, fixed for the stream's life: other frame rates are made by scaling the
        /// bitrate.
        private let nominalFrameRate: Double
        private let temporalLayers: Int
        private let columns: Int
        private let rows: Int
        private let inspector: SliceInspector
        private var memory = OutputMemory()
        /// The offset of the QP of each macroblock.
        private let offsets: UnsafeMutableBufferPointer<Float>
        /// True for one frame after the rate has fallen.
        private var isBufferTight = false
        /// x264's time of the next picture: pictures are counted, as its rate control goes by frames.
        private var nextTime: Int64 = 0
        /// The numbers of the last pictures, by x264's time modulo the count.
        private var serials = [Int64](repeating: -1, count: 64)

        init(properties: CompressionProperties, dimensions: VideoDimensions) throws(VideoCodingError) {
            nominalFrameRate = properties.expectedFrameRate
            self.properties = properties
            isDelayed = !properties.realTime
            temporalLayers = properties.temporalLayers
            parameters = try Self.makeParameters(properties, dimensions: dimensions)
            guard let opened = x264_shim_encoder_open(&parameters) else {
                x264_param_cleanup(&parameters)
                throw .codecUnavailable(reason: "x264 made no encoder")
            }
            do throws(VideoCodingError) {
                parameterSets = try Self.readParameterSets(opened)
                guard let inspector = SliceInspector(parameterSets: parameterSets) else {
                    throw .codecUnavailable(reason: "x264's parameter sets make no sense")
                }
                self.inspector = inspector
            } catch {
                x264_encoder_close(opened)
                x264_param_cleanup(&parameters)
                throw error
            }
            encoder = opened
            columns = (dimensions.width + 15) / 16
            rows = (dimensions.height + 15) / 16
            offsets = .allocate(capacity: columns * rows)
            offsets.initialize(repeating: 0)
        }

        deinit {
            x264_encoder_close(encoder)
            x264_param_cleanup(&parameters)
            offsets.deallocate()
        }

        static func readParameterSets(_ encoder: OpaquePointer) throws(VideoCodingError) -> [ByteBuffer] {
            var units: UnsafeMutablePointer<x264_nal_t>?
            var count: Int32 = 0
            let status = x264_encoder_headers(encoder, &units, &count)
            guard status > 0 else { throw .encodingFailed(backEnd: .x264, code: Int(status)) }
            return UnsafeBufferPointer(start: units, count: Int(count)).compactMap { unit in
                guard unit.i_type == Int32(NAL_SPS.rawValue) || unit.i_type == Int32(NAL_PPS.rawValue),
                    unit.i_payload > 4
                else { return nil }
                return ByteBuffer(
                    bytes: UnsafeRawBufferPointer(start: unit.p_payload + 4, count: Int(unit.i_payload) - 4))
            }
        }

        // MARK: - Rate

        func setProperties(_ changed: CompressionProperties) throws(VideoCodingError) {
            // The buffer's content at the higher rate is no credit at the lower one: it would be spent in a burst.
            let hasFallen = EncodingRate(changed).frameBits < EncodingRate(properties).frameBits
            let presetChanges = changed.preset != properties.preset
            properties = changed
            if presetChanges { try Self.setSearch(of: &parameters, properties) }
            isBufferTight = isBufferTight || (hasFallen && !isDelayed)
            try reconfigure()
        }

        private func reconfigure() throws(VideoCodingError) {
            Self.setRate(
                of: &parameters, properties, nominalFrameRate: nominalFrameRate, isBufferTight: isBufferTight)
            parameters.i_slice_max_size = Int32(clamping: properties.sliceMaxBytes?.bytes ?? 0)
            let status = x264_encoder_reconfig(encoder, &parameters)
            guard status == 0 else { throw .encodingFailed(backEnd: .x264, code: Int(status)) }
        }

        func withdrawLastFrame() {}

        // MARK: - Frames

        func encode(_ picture: PixelBuffer, _ request: FrameRequest) throws(VideoCodingError) -> BackEndResult {
            var input = x264_picture_t()
            x264_picture_init(&input)
            input.i_type = request.forceKeyframe ? X264_TYPE_IDR : X264_TYPE_AUTO
            if let qp = request.qp { input.i_qpplus1 = Int32(qp) + 1 }
            input.i_pts = nextTime
            serials[Int(nextTime % Int64(serials.count))] = request.serial
            nextTime += 1
            // The value that comes back with the frame, as a pointer; zero would be nil.
            input.opaque = UnsafeMutableRawPointer(bitPattern: Int(truncatingIfNeeded: request.serial) &+ 1)
            if !request.regionsOfInterest.isEmpty {
                setOffsets(request.regionsOfInterest)
                input.prop.quant_offsets = offsets.baseAddress
            }
            let frame = try picture.withEncoderPlanes { first, second, third in
                Result { () throws(VideoCodingError) -> BackEndFrame? in
                    input.img.i_csp = picture.format == .nv12 ? X264_CSP_NV12 : X264_CSP_I420
                    input.img.i_plane = picture.format == .nv12 ? 2 : 3
                    input.img.i_stride = (first.stride, second.stride, third.stride, 0)
                    input.img.plane = (first.base, second.base, third.base, nil)
                    return try run(&input)
                }
            }.get()
            if isBufferTight {
                isBufferTight = false
                try reconfigure()
            }
            guard let frame else { return isDelayed ? .held : .skipped }
            return .frame(frame)
        }

        func finish() throws(VideoCodingError) -> BackEndFrame? {
            while x264_encoder_delayed_frames(encoder) > 0 {
                if let frame = try run(nil) { return frame }
            }
            return nil
        }

        private func run(_ input: UnsafeMutablePointer<x264_picture_t>?) throws(VideoCodingError) -> BackEndFrame? {
            var result = x264_picture_t()
            var units: UnsafeMutablePointer<x264_nal_t>?
            var count: Int32 = 0
            let status = x264_encoder_encode(encoder, &units, &count, input, &result)
            guard status >= 0 else { throw .encodingFailed(backEnd: .x264, code: Int(status)) }
            guard status > 0, count > 0, let start = units?.pointee.p_payload else { return nil }
            // The payloads lie one behind the other, each with its length before it.
            let bytes = UnsafeRawBufferPointer(start: start, count: Int(status))
            let data = memory.makeBuffer(size: bytes.count) { $0.writeBytes(bytes) }
            guard let slice = inspector.inspect(data) else {
                throw .codecUnavailable(reason: "x264's slices make no sense")
            }
            let serial = Int64(Int(bitPattern: result.opaque)) - 1
            return BackEndFrame(
                data: data, serial: serial, decodeSerial: serial - (result.i_pts - result.i_dts), slice: slice,
                temporalLayer: temporalLayer(of: result.i_type),
                averageQP: result.i_qpplus1 > 0 ? Int(result.i_qpplus1) - 1 : nil)
        }

        private func temporalLayer(of type: Int32) -> Int {
            switch type {
            case X264_TYPE_BREF: min(1, temporalLayers - 1)
            case X264_TYPE_B: temporalLayers - 1
            default: 0
            }
        }

        private func setOffsets(_ regions: [RegionOfInterest]) {
            offsets.update(repeating: 0)
            for region in regions {
                let left = min(max(region.rect.x / 16, 0), columns)
                let top = min(max(region.rect.y / 16, 0), rows)
                // Bounded before they are added up.
                let right = min(max(min(region.rect.maxX, columns * 16) + 15, 0) / 16, columns)
                let bottom = min(max(min(region.rect.maxY, rows * 16) + 15, 0) / 16, rows)
                guard left < right, top < bottom else { continue }
                for row in top..<bottom {
                    for column in left..<right { offsets[row * columns + column] = Float(region.qpOffset) }
                }
            }
        }

        // MARK: - References

        func invalidateReferences(from serial: Int64) throws(VideoCodingError) -> Bool {
            // Without older references x264 makes a keyframe of its own accord.
            let oldest = max(0, nextTime - Int64(serials.count))
            guard let time = (oldest..<nextTime).first(where: { serials[Int($0 % Int64(serials.count))] >= serial }),
                time > oldest, properties.longTermReferences
            else { return false }
            let status = x264_encoder_invalidate_reference(encoder, time)
            guard status == 0 else { throw .encodingFailed(backEnd: .x264, code: Int(status)) }
            return true
        }

        func acknowledge(_ reference: LongTermReference) throws(VideoCodingError) {}
    }
#endif
