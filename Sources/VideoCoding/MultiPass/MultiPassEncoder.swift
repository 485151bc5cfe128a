#if X264
    import DequeModule
    import H264
    import MediaCore
    import NIOCore

    /// Makes one pass: the first over everything, a later one over the requested groups of pictures.
    ///
    /// A group that is encoded again begins with an IDR picture at the same time as before and refers to nothing
    /// outside, so it replaces the old one in the stream exactly. Consecutive IDR pictures differ in their `idr_pic_id`
    /// (H.264 7.4.3) because groups are never split between two IDR pictures in a row.
    final class MultiPassEncoder: PassEncoder {
        let parameterSets: [ByteBuffer]
        let isDelayed = true

        private let properties: CompressionProperties
        private let dimensions: VideoDimensions
        private let storage: MultiPassStorage
        /// The analysis that the storage had when the pass began.
        private let analysis: MultiPassAnalysis
        private let reorderDepth: Int
        private let inspector: SliceInspector
        /// The encoder of the first pass, or of the group that is being encoded; nil before its first picture.
        private var encoder: X264GroupEncoder?
        /// Results that have not been taken.
        private var results = Deque<Result>()
        private var framesEncoded = 0
        /// The number of frames made; fewer than were encoded if the encoder has failed on one.
        private var framesMade = 0
        /// The presentation times of all pictures so far, from the beginning of the stream.
        private var times: [MediaTime]
        /// The group of the frames that come out.
        private var group: OpenGroup?
        /// `idr_pic_id` of the last frame that came out, if it is an IDR picture.
        private var lastKeyframeID: Int?

        // In the first pass:
        private var lastDuration: MediaTime?

        // In later passes:
        private let requests: [PassPlanner.Request]
        private var requestIndex = 0
        /// The next picture's place in the group of the request.
        private var position = 0

        private enum Result {
            case frame(BackEndFrame)
            case groupEnd(OpenGroup, end: MediaTime)
        }

        private struct OpenGroup {
            var firstNumber: Int
            var rateFactor: Double
            /// The index of the replaced group in the analysis; nil in the first pass.
            var index: Int?
            var frameCount = 0
            var keyframes: [Int] = []
            var endsWithKeyframe = false
            var size = DataSize.zero
            var distortion = 0.0

            var measurement: PassMeasurement {
                PassMeasurement(rateFactor: rateFactor, size: size, distortion: distortion)
            }

            mutating func add(_ frame: GroupFrame) {
                frameCount += 1
                if frame.isKeyframe { keyframes.append(frame.number - firstNumber) }
                endsWithKeyframe = frame.isKeyframe
                size += DataSize(bytes: frame.data.readableBytes)
                distortion += max(0, 1 - frame.structuralSimilarity)
            }
        }

        /// Fewer pictures than this share a group with the next ones: an encoder of their own would see too little.
        private static let fewestFrames = 12
        /// Passes that still find something to do after this many are going in circles. One more may go back to what
        /// was nearest to the size.
        private static let mostPasses = 8

        /// Begins the pass that `storage` has come to.
        init(
            properties: CompressionProperties, dimensions: VideoDimensions, storage: MultiPassStorage
        ) throws(VideoCodingError) {
            self.properties = properties
            self.dimensions = dimensions
            self.storage = storage
            do {
                try storage.claim(properties.fingerprint(dimensions: dimensions))
            } catch {
                throw .multiPass(error)
            }
            analysis = storage.analysis
            guard !analysis.isFinished else { throw .multiPass(.noFurtherPassRequested) }
            times = analysis.groups.flatMap(\.times)
            requests = analysis.pending ?? []
            let model = try X264GroupEncoder(
                properties: properties, dimensions: dimensions, rateFactor: PassPlanner.rateFactors.upperBound,
                keyframes: .given)
            parameterSets = try model.parameterSets()
            guard let format = try? VideoFormatDescription(h264ParameterSets: parameterSets),
                let inspector = SliceInspector(parameterSets: parameterSets)
            else { throw .codecUnavailable(reason: "x264's parameter sets make no sense") }
            reorderDepth = format.reorderDepth
            self.inspector = inspector
        }

        private var isFirstPass: Bool { analysis.pending == nil }

        // Only calls in real time change properties.
        func setProperties(_ properties: CompressionProperties) {}
        func withdrawLastFrame() {}
        func invalidateReferences(from serial: Int64) -> Bool { false }
        func acknowledge(_ reference: LongTermReference) {}

        func check(_ time: MediaTime) throws(VideoCodingError) {
            guard let expected = expectedTime, time != expected else {
                if expectedTime == nil, !isFirstPass { throw .multiPass(.outsideTimeRanges(time)) }
                return
            }
            guard time > expected else { throw .multiPass(.outsideTimeRanges(time)) }
            let isAskedFor = isFirstPass || analysis.pendingRanges.contains { $0.contains(time) }
            throw .multiPass(isAskedFor ? .framesMissing(count: 1, first: expected) : .outsideTimeRanges(time))
        }

        /// The required presentation time of the next picture; nil for any time.
        private var expectedTime: MediaTime? {
            guard isFirstPass else {
                guard requestIndex < requests.count else { return nil }
                return analysis.groups[requests[requestIndex].group].times[position]
            }
            // The storage may have the beginning of the recording already.
            return times.count == analysis.frameCount ? analysis.groups.last?.end : nil
        }

        func encode(_ picture: PixelBuffer, _ request: FrameRequest) throws(VideoCodingError) -> BackEndResult {
            try check(request.presentationTime)
            framesEncoded += 1
            if isFirstPass {
                try encodeInFirstPass(picture, request)
            } else {
                try encodeAnew(picture, request)
            }
            return .held
        }

        /// Has everything come out in the first pass, of which the next picture then gets an encoder of its own. In
        /// later passes the frames of a group come out with its last picture.
        func finish() throws(VideoCodingError) -> BackEndFrame? {
            if isFirstPass { try drainEncoder() }
            return try nextReadyFrame()
        }

        func nextReadyFrame() throws(VideoCodingError) -> BackEndFrame? {
            while let result = results.popFirst() {
                switch result {
                case .frame(let frame): return frame
                // Only now all of its frames have been handed out: another process that continues has them.
                case .groupEnd(let group, let end): try store(group, end: end)
                }
            }
            return nil
        }

        func endPass() throws(VideoCodingError) -> PassResult {
            if isFirstPass {
                endGroup(at: (times.last ?? .zero) + (lastDuration ?? frameInterval))
            } else if requestIndex < requests.count, let first = expectedTime {
                let count = requests[requestIndex...].reduce(-position) { $0 + analysis.groups[$1.group].times.count }
                throw .multiPass(.framesMissing(count: count, first: first))
            }
            guard framesMade == framesEncoded else { throw .encodingFailed(backEnd: .x264, code: -1) }
            while try nextReadyFrame() != nil {}
            let found = storage.analysis
            let targetSize = properties.averageBitRate.dataSize(over: found.range?.duration.duration ?? .zero)
            let planner = PassPlanner(targetSize: targetSize)
            let groups = found.groups.map {
                PassPlanner.Group(frameCount: $0.times.count, measurements: $0.measurements)
            }
            let requests =
                found.pass < Self.mostPasses
                ? planner.requests(for: groups) : found.pass == Self.mostPasses ? planner.returns(for: groups) : []
            do {
                try storage.endPass(requesting: requests)
            } catch {
                throw .multiPass(error)
            }
            return PassResult(
                pass: found.pass, timeRangesForNextPass: storage.analysis.pendingRanges, size: found.size,
                targetSize: targetSize, structuralSimilarity: found.structuralSimilarity ?? 1,
                frameCount: found.frameCount, framesEncoded: framesEncoded)
        }

        // MARK: - The first pass

        private func encodeInFirstPass(_ picture: PixelBuffer, _ request: FrameRequest) throws(VideoCodingError) {
            let isFirst = encoder == nil
            let rateFactor = properties.likelyRateFactor(dimensions: dimensions)
            let encoder =
                if let encoder { encoder } else { try makeEncoder(rateFactor: rateFactor, keyframes: .chosen) }
            let number = times.count
            // A new encoder begins with 0.
            if isFirst, lastKeyframeID == 0 { try encoder.skipKeyframeID(with: picture, before: number) }
            times.append(request.presentationTime)
            lastDuration = request.duration
            let frame = try encoder.encode(
                picture, number: number, serial: request.serial, isKeyframe: request.forceKeyframe || isFirst)
            if let frame { accept(frame) }
        }

        /// Takes a frame of the first pass. A group ends before a keyframe that is not the second in a row.
        private func accept(_ frame: GroupFrame) {
            if frame.isKeyframe, let group, group.frameCount >= Self.fewestFrames, !group.endsWithKeyframe {
                endGroup(at: times[frame.number])
            }
            if group == nil {
                group = OpenGroup(
                    firstNumber: frame.number, rateFactor: properties.likelyRateFactor(dimensions: dimensions))
            }
            add(frame)
        }

        // MARK: - Later passes

        private func encodeAnew(_ picture: PixelBuffer, _ request: FrameRequest) throws(VideoCodingError) {
            let asked = requests[requestIndex]
            let target = analysis.groups[asked.group]
            let isFirst = encoder == nil
            let encoder =
                if let encoder { encoder } else { try makeEncoder(rateFactor: asked.rateFactor, keyframes: .given) }
            if position == 0 {
                group = OpenGroup(firstNumber: target.firstNumber, rateFactor: asked.rateFactor, index: asked.group)
            }
            let frame = try encoder.encode(
                picture, number: target.firstNumber + position, serial: request.serial,
                isKeyframe: isFirst || target.keyframes.contains(position))
            position += 1
            if let frame { add(frame) }
            guard position == target.times.count else { return }
            try drainEncoder()
            endGroup(at: target.end)
            requestIndex += 1
            position = 0
        }

        // MARK: - What comes out

        private func makeEncoder(
            rateFactor: Double, keyframes: X264GroupEncoder.Keyframes
        ) throws(VideoCodingError) -> X264GroupEncoder {
            let made = try X264GroupEncoder(
                properties: properties, dimensions: dimensions, rateFactor: rateFactor, keyframes: keyframes)
            guard try made.parameterSets() == parameterSets else {
                throw .codecUnavailable(reason: "x264's parameter sets change from group to group")
            }
            encoder = made
            return made
        }

        private func drainEncoder() throws(VideoCodingError) {
            while let frame = try encoder?.nextDelayedFrame() {
                if isFirstPass { accept(frame) } else { add(frame) }
            }
            encoder = nil
        }

        /// Counts a frame towards its group, and prepares it for being handed out.
        private func add(_ frame: GroupFrame) {
            guard var open = group else { return }
            let decodeNumber = open.firstNumber + open.frameCount
            open.add(frame)
            group = open
            framesMade += 1
            let slice =
                inspector.inspect(frame.data)
                ?? SliceSummary(type: frame.isKeyframe ? .idr : .p, isReference: true, frameNumber: 0)
            lastKeyframeID = slice.keyframeID
            var ready = BackEndFrame(
                data: frame.data, serial: frame.serial, decodeSerial: frame.serial, slice: slice)
            ready.temporalLayer = frame.temporalLayer
            ready.averageQP = frame.averageQP
            ready.decodeTime = decodeTime(decodeNumber)
            results.append(.frame(ready))
        }

        private func endGroup(at end: MediaTime) {
            guard let open = group else { return }
            group = nil
            results.append(.groupEnd(open, end: end))
        }

        private func store(_ open: OpenGroup, end: MediaTime) throws(VideoCodingError) {
            do throws(MultiPassError) {
                if let index = open.index {
                    try storage.append(open.measurement, group: index)
                } else {
                    let numbers = open.firstNumber..<open.firstNumber + open.frameCount
                    try storage.append(
                        MultiPassAnalysis.Group(
                            firstNumber: open.firstNumber, times: Array(times[numbers]), keyframes: open.keyframes,
                            end: end, measurements: [open.measurement]))
                }
            } catch {
                throw .multiPass(error)
            }
        }

        private var frameInterval: MediaTime {
            MediaTime(value: 1000, timescale: Int32(clamping: Int((properties.expectedFrameRate * 1000).rounded())))
        }

        /// Returns the decoding time of the stream's `number`th frame in decoding order: the presentation time of the
        /// picture that precedes it by the reorder depth. So no frame is decoded after its presentation.
        private func decodeTime(_ number: Int) -> MediaTime {
            let shown = number - reorderDepth
            guard shown < 0, let first = times.first else { return times[max(0, shown)] }
            let interval = times.count > 1 ? times[1] - first : frameInterval
            return (0..<(-shown)).reduce(first) { time, _ in time - interval }
        }
    }
#endif
