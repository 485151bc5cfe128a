#if X264
    import CX264
    import MediaCore
    import NIOCore

    /// x264 on one thread: in real time without any delay, else with lookahead and, where frames may be reordered,
    /// B-frames.
    final class X264Encoder: EncoderBackEndSession {
        private(set) var parameterSets: [ByteBuffer] = []
        let isDelayed: Bool

        private let handle: X264Handle
        private var properties: CompressionProperties
        /// The frame rate in x264's settings, fixed for the stream's life: other frame rates are made by scaling the
        /// bitrate.
        private let nominalFrameRate: Double
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
        /// True if the stream does not go on with the `idr_pic_id` that x264 gives the next keyframe.
        private var skipsKeyframeID: Bool
        /// `idr_pic_id` of the last frame that was handed out, and of the one before it; nil where that is no keyframe.
        private var keyframeIDs: (last: Int?, former: Int?) = (nil, nil)
        /// The serial number of a frame that is not handed out.
        private static let skipped: Int64 = -1_000

        init(
            properties: CompressionProperties, dimensions: VideoDimensions, skipsKeyframeID: Bool = false
        ) throws(VideoCodingError) {
            self.skipsKeyframeID = skipsKeyframeID
            nominalFrameRate = properties.expectedFrameRate
            self.properties = properties
            isDelayed = !properties.realTime
            handle = try X264Handle(
                Self.makeParameters(properties, dimensions: dimensions), temporalLayers: properties.temporalLayers)
            parameterSets = try handle.parameterSets()
            guard let inspector = SliceInspector(parameterSets: parameterSets) else {
                throw .codecUnavailable(reason: "x264's parameter sets make no sense")
            }
            self.inspector = inspector
            columns = (dimensions.width + 15) / 16
            rows = (dimensions.height + 15) / 16
            offsets = .allocate(capacity: columns * rows)
            offsets.initialize(repeating: 0)
        }

        deinit {
            offsets.deallocate()
        }

        // MARK: - Rate

        func setProperties(_ changed: CompressionProperties) throws(VideoCodingError) {
            // The buffer's content at the higher rate is no credit at the lower one: it would be spent in a burst.
            let hasFallen = EncodingRate(changed).frameBits < EncodingRate(properties).frameBits
            let presetChanges = changed.preset != properties.preset
            properties = changed
            isBufferTight = isBufferTight || (hasFallen && !isDelayed)
            try reconfigure(presetChanges: presetChanges)
        }

        private func reconfigure(presetChanges: Bool = false) throws(VideoCodingError) {
            try handle.reconfigure { parameters throws(VideoCodingError) in
                if presetChanges { try Self.setSearch(of: &parameters, properties) }
                Self.setRate(
                    of: &parameters, properties, nominalFrameRate: nominalFrameRate, isBufferTight: isBufferTight)
                parameters.i_slice_max_size = Int32(clamping: properties.sliceMaxBytes?.bytes ?? 0)
            }
        }

        func withdrawLastFrame() {
            // x264 numbers keyframes 0 and 1 by turns, and two in a row must differ (H.264 7.4.3): without the
            // withdrawn one, the next would have the number of the one before it.
            skipsKeyframeID = keyframeIDs.last != nil && keyframeIDs.former != nil
            keyframeIDs.last = keyframeIDs.former
        }

        // MARK: - Frames

        func encode(_ picture: PixelBuffer, _ request: FrameRequest) throws(VideoCodingError) -> BackEndResult {
            var request = request
            if skipsKeyframeID {
                skipsKeyframeID = false
                _ = try handle.encode(picture, time: nextTime, serial: Self.skipped, isKeyframe: true) { input in
                    if let qp = request.qp { input.i_qpplus1 = Int32(qp) + 1 }
                }
                nextTime += 1
                request.forceKeyframe = true
            }
            let time = nextTime
            serials[Int(time % Int64(serials.count))] = request.serial
            nextTime += 1
            if !request.regionsOfInterest.isEmpty { setOffsets(request.regionsOfInterest) }
            let output = try handle.encode(
                picture, time: time, serial: request.serial, isKeyframe: request.forceKeyframe
            ) { input in
                if let qp = request.qp { input.i_qpplus1 = Int32(qp) + 1 }
                if !request.regionsOfInterest.isEmpty { input.prop.quant_offsets = offsets.baseAddress }
            }
            let frame = try output.flatMap(makeFrame)
            if isBufferTight {
                isBufferTight = false
                try reconfigure()
            }
            guard let frame else { return isDelayed ? .held : .skipped }
            return .frame(frame)
        }

        func finish() throws(VideoCodingError) -> BackEndFrame? {
            while let output = try handle.nextDelayedFrame() {
                if let frame = try makeFrame(output) { return frame }
            }
            return nil
        }

        private func makeFrame(_ output: X264Handle.Output) throws(VideoCodingError) -> BackEndFrame? {
            guard output.serial != Self.skipped else { return nil }
            let data = memory.makeBuffer(size: output.bytes.count) { $0.writeBytes(output.bytes) }
            guard let slice = inspector.inspect(data) else {
                throw .codecUnavailable(reason: "x264's slices make no sense")
            }
            keyframeIDs = (slice.keyframeID, keyframeIDs.last)
            return BackEndFrame(
                data: data, serial: output.serial,
                decodeSerial: output.serial - (output.picture.i_pts - output.picture.i_dts), slice: slice,
                temporalLayer: output.temporalLayer, averageQP: output.averageQP)
        }

        private func setOffsets(_ regions: [RegionOfInterest]) {
            offsets.update(repeating: 0)
            for region in regions {
                let across = Self.macroblocks(from: region.rect.x, count: region.rect.width, within: columns)
                for row in Self.macroblocks(from: region.rect.y, count: region.rect.height, within: rows) {
                    for column in across { offsets[row * columns + column] = Float(region.qpOffset) }
                }
            }
        }

        /// The macroblocks of a row or column of so many that `count` samples from `start` on touch.
        private static func macroblocks(from start: Int, count: Int, within limit: Int) -> Range<Int> {
            guard count > 0 else { return 0..<0 }
            let (sum, overflow) = start.addingReportingOverflow(count)
            let first = min(max(start / 16, 0), limit)
            let end = min(max(overflow ? .max : sum, 0), limit * 16)
            return first..<max(first, (end + 15) / 16)
        }

        // MARK: - References

        func invalidateReferences(from serial: Int64) throws(VideoCodingError) -> Bool {
            // Without older references x264 makes a keyframe of its own accord.
            let oldest = max(0, nextTime - Int64(serials.count))
            guard let time = (oldest..<nextTime).first(where: { serials[Int($0 % Int64(serials.count))] >= serial }),
                time > oldest, properties.longTermReferences
            else { return false }
            try handle.invalidateReference(time)
            return true
        }

        func acknowledge(_ reference: LongTermReference) throws(VideoCodingError) {}
    }
#endif
