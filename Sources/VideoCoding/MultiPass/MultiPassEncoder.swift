#if X264
    import H264
    import MediaCore
    import NIOCore

    /// Makes one pass: the first over everything, a later one over the groups of pictures that were asked for.
    ///
    /// A group that is encoded anew begins with an IDR picture at the same time as before and refers to nothing outside, so
    /// it takes the place of the old one in the stream bit by bit. Consecutive IDR pictures differ in their `idr_pic_id`
    /// (H.264 7.4.3) because groups are never split between two IDR pictures in a row.
    final class MultiPassEncoder {
        /// A frame of the pass.
        struct Output {
            var frame: GroupFrame
            var presentationTime: MediaTime
            var decodeTime: MediaTime
            var duration: MediaTime
            var token: FrameToken
        }

        let storage: MultiPassStorage
        let format: VideoFormatDescription

        private let settings: MultiPassSettings
        private var analysis: MultiPassAnalysis
        private var framesEncoded = 0
        /// The tokens of pictures that the encoder holds, by the pictures' numbers.
        private var tokens: [Int: FrameToken] = [:]
        /// The encoder of the first pass, or of the group that is being encoded.
        private var encoder: X264GroupEncoder?

        // In the first pass:
        /// The presentation times of all pictures so far, from the beginning of the stream.
        private var times: [MediaTime]
        private var lastDuration: MediaTime?
        private var openGroup: OpenGroup?

        // In later passes:
        /// The next picture's place in the group that is being encoded.
        private var position = 0
        private var measurement = PassMeasurement(rateFactor: 0, size: .zero, distortion: 0)

        /// A group of the first pass that more frames may come to.
        private struct OpenGroup {
            var firstNumber: Int
            var frameCount = 0
            var keyFrames: [Int] = []
            var endsWithKeyFrame = false
            var measurement: PassMeasurement
        }

        /// Fewer pictures than this share a group with the next ones: an encoder of their own would see too little.
        private static let fewestFrames = 12

        /// Begins the pass that `storage` has come to.
        init(settings: MultiPassSettings, storage: MultiPassStorage) throws(VideoCodingError) {
            self.settings = settings
            self.storage = storage
            do {
                try storage.claim(settings)
            } catch {
                throw .multiPass(error)
            }
            analysis = storage.analysis
            times = analysis.groups.flatMap(\.times)
            guard !analysis.isFinished else { throw .multiPass(.noFurtherPassRequested) }
            let isFirst = analysis.pending == nil
            let encoder = try X264GroupEncoder(
                settings: settings, rateFactor: settings.likelyRateFactor, keyFrames: isFirst ? .chosen : .given)
            do {
                format = try VideoFormatDescription(h264ParameterSets: encoder.parameterSets())
            } catch let error as H264ParseError {
                throw .codecUnavailable(reason: "the encoder's parameter sets make no sense: \(error)")
            } catch let error as VideoCodingError {
                throw error
            } catch {
                throw .codecUnavailable(reason: "\(error)")
            }
            if isFirst { self.encoder = encoder }
        }

        /// What has still to be encoded in this pass.
        var pendingRanges: [MediaTimeRange] { analysis.pendingRanges }

        /// Encodes a picture, and hands out the frames that come out meanwhile, in the order of decoding.
        func encode(
            _ picture: PixelBuffer, presentationTime: MediaTime, duration: MediaTime?, forceKeyFrame: Bool,
            token: FrameToken, output: (Output) -> Void
        ) throws(VideoCodingError) {
            if analysis.pending == nil {
                try encodeInFirstPass(
                    picture, at: presentationTime, duration: duration, forceKeyFrame: forceKeyFrame, token: token,
                    output: output)
            } else {
                try encodeAnew(picture, at: presentationTime, token: token, output: output)
            }
        }

        /// Encodes what the encoder holds, ends the pass and plans the next one.
        func finish(output: (Output) -> Void) throws(VideoCodingError) -> PassResult {
            if analysis.pending == nil { try finishFirstPass(output: output) }
            if let request = analysis.pending?.first {
                let group = analysis.groups[request.group]
                let count = (analysis.pending ?? []).reduce(-position) { $0 + analysis.groups[$1.group].times.count }
                throw .multiPass(.framesMissing(count: count, first: group.times[position]))
            }
            encoder = nil
            let pass = analysis.pass
            let targetSize = settings.averageBitRate.dataSize(over: analysis.range?.duration.duration ?? .zero)
            let planner = PassPlanner(targetSize: targetSize)
            let groups = analysis.groups.map {
                PassPlanner.Group(frameCount: $0.times.count, measurements: $0.measurements)
            }
            let requests = pass < Self.mostPasses ? planner.requests(for: groups) : []
            try store { storage throws(MultiPassError) in try storage.endPass(requesting: requests) }
            return PassResult(
                pass: pass, timeRangesForNextPass: analysis.pendingRanges, size: analysis.size, targetSize: targetSize,
                structuralSimilarity: analysis.structuralSimilarity ?? 1, frameCount: analysis.frameCount,
                framesEncoded: framesEncoded)
        }

        /// Passes that still find something to do after this many are going in circles.
        private static let mostPasses = 8

        /// Changes the storage, and reads what it has now.
        private func store(_ body: (MultiPassStorage) throws(MultiPassError) -> Void) throws(VideoCodingError) {
            do {
                try body(storage)
            } catch {
                throw .multiPass(error)
            }
            analysis = storage.analysis
        }

        // MARK: The first pass

        private func encodeInFirstPass(
            _ picture: PixelBuffer, at time: MediaTime, duration: MediaTime?, forceKeyFrame: Bool, token: FrameToken,
            output: (Output) -> Void
        ) throws(VideoCodingError) {
            guard let encoder else { throw .multiPass(.noPass) }
            let number = times.count
            if number == analysis.frameCount, let end = analysis.groups.last?.end, time != end {
                // The storage has the beginning of the recording already.
                if time < end { throw .multiPass(.outsideTimeRanges(time)) }
                throw .multiPass(.framesMissing(count: 1, first: end))
            }
            times.append(time)
            lastDuration = duration
            tokens[number] = token
            let isFirst = number == analysis.frameCount
            let frame = try encoder.encode(picture, number: number, isKeyFrame: forceKeyFrame || isFirst)
            framesEncoded += 1
            if let frame { try accept(frame, output: output) }
        }

        private func finishFirstPass(output: (Output) -> Void) throws(VideoCodingError) {
            while let frame = try encoder?.nextDelayedFrame() { try accept(frame, output: output) }
            guard let last = times.last else { return }
            try close(end: last + (lastDuration ?? frameDuration))
        }

        private var frameDuration: MediaTime {
            MediaTime(value: 1, timescale: Int32(clamping: max(1, settings.frameRate)))
        }

        /// Hands out a frame of the first pass, and counts it towards its group.
        private func accept(_ frame: GroupFrame, output: (Output) -> Void) throws(VideoCodingError) {
            if frame.isKeyFrame, let group = openGroup, group.frameCount >= Self.fewestFrames, !group.endsWithKeyFrame {
                try close(end: times[frame.number])
            }
            var group =
                openGroup
                ?? OpenGroup(
                    firstNumber: frame.number,
                    measurement: PassMeasurement(rateFactor: settings.likelyRateFactor, size: .zero, distortion: 0))
            let decodeNumber = group.firstNumber + group.frameCount
            group.frameCount += 1
            if frame.isKeyFrame { group.keyFrames.append(frame.number - group.firstNumber) }
            group.endsWithKeyFrame = frame.isKeyFrame
            group.measurement.add(frame)
            openGroup = group
            emit(frame, decodeNumber: decodeNumber, output: output)
        }

        /// Puts the open group into the storage.
        private func close(end: MediaTime) throws(VideoCodingError) {
            guard let group = openGroup else { return }
            openGroup = nil
            let numbers = group.firstNumber..<group.firstNumber + group.frameCount
            let finished = MultiPassAnalysis.Group(
                firstNumber: group.firstNumber, times: Array(times[numbers]), keyFrames: group.keyFrames, end: end,
                measurements: [group.measurement])
            try store { storage throws(MultiPassError) in try storage.append(finished) }
        }

        // MARK: Later passes

        private func encodeAnew(
            _ picture: PixelBuffer, at time: MediaTime, token: FrameToken, output: (Output) -> Void
        ) throws(VideoCodingError) {
            guard let request = analysis.pending?.first else { throw .multiPass(.outsideTimeRanges(time)) }
            let group = analysis.groups[request.group]
            let expected = group.times[position]
            guard time == expected else {
                let isPending = time > expected && analysis.pendingRanges.contains { $0.contains(time) }
                throw .multiPass(isPending ? .framesMissing(count: 1, first: expected) : .outsideTimeRanges(time))
            }
            let encoder = if let encoder { encoder } else { try beginGroup(request) }
            let number = group.firstNumber + position
            tokens[number] = token
            let isKeyFrame = group.keyFrames.contains(position)
            let frame = try encoder.encode(picture, number: number, isKeyFrame: isKeyFrame)
            framesEncoded += 1
            position += 1
            if let frame { acceptAnew(frame, output: output) }
            guard position == group.times.count else { return }
            while let frame = try encoder.nextDelayedFrame() { acceptAnew(frame, output: output) }
            self.encoder = nil
            position = 0
            let measurement = measurement
            try store { storage throws(MultiPassError) in try storage.append(measurement, group: request.group) }
        }

        private func beginGroup(_ request: PassPlanner.Request) throws(VideoCodingError) -> X264GroupEncoder {
            let opened = try X264GroupEncoder(settings: settings, rateFactor: request.rateFactor, keyFrames: .given)
            encoder = opened
            measurement = PassMeasurement(rateFactor: request.rateFactor, size: .zero, distortion: 0)
            decodeNumber = analysis.groups[request.group].firstNumber
            return opened
        }

        private var decodeNumber = 0

        private func acceptAnew(_ frame: GroupFrame, output: (Output) -> Void) {
            measurement.add(frame)
            emit(frame, decodeNumber: decodeNumber, output: output)
            decodeNumber += 1
        }

        // MARK: Output

        /// Hands out a frame that is the stream's `decodeNumber`th in the order of decoding.
        private func emit(_ frame: GroupFrame, decodeNumber: Int, output: (Output) -> Void) {
            let time = times[frame.number]
            let next = frame.number + 1 < times.count ? times[frame.number + 1] : nil
            let duration = next.map { $0 - time } ?? lastDuration ?? analysis.range.map { $0.end - time } ?? frameDuration
            output(
                Output(
                    frame: frame, presentationTime: time, decodeTime: decodeTime(decodeNumber), duration: duration,
                    token: tokens.removeValue(forKey: frame.number) ?? FrameToken(0)))
        }

        /// When the stream's `number`th frame in the order of decoding is decoded: when one is shown that is as many
        /// frames earlier as frames are reordered by. So no frame is decoded after it is shown.
        private func decodeTime(_ number: Int) -> MediaTime {
            let shown = number - format.reorderDepth
            guard shown < 0, let first = times.first else { return times[max(0, shown)] }
            let interval = times.count > 1 ? times[1] - first : frameDuration
            return (0..<(-shown)).reduce(first) { time, _ in time - interval }
        }
    }

    extension PassMeasurement {
        /// Adds a frame.
        fileprivate mutating func add(_ frame: GroupFrame) {
            size += DataSize(bytes: frame.data.readableBytes)
            distortion += max(0, 1 - frame.structuralSimilarity)
        }
    }
#endif
