#if VAAPI
    import Glibc
    import MediaCore

    /// Chooses the QP of each frame so that a stream keeps to its rate, for drivers whose own rate control follows a
    /// new rate too slowly.
    ///
    /// A QP that is higher by six makes a frame about half as large, because the quantiser's step doubles (H.264
    /// 8.5.9). So the sizes of the last frames tell the QP of the next one at any rate: a lower rate holds from the
    /// next frame on, a higher one from the second or third. Frames that came out larger are paid back within the time
    /// of a decoder's buffer.
    struct QPRateControl {
        private var rate: EncodingRate
        private var meter: OverspendMeter
        /// The meter before the last frame.
        private var formerMeter: OverspendMeter
        private let range: ClosedRange<Int>
        private var keyframes: FrameComplexity
        private var others = FrameComplexity()
        /// The complexity of the largest of the last frames that fit in the buffer. Pictures that stand still become
        /// only so good that such a frame still fits when they move again.
        private var peak = 0.0
        /// The QP of the last frame that was no keyframe.
        private var lastQP = 0
        /// No frame has more bits than its samples.
        private let mostBits: Double

        /// The best QP is no better than that of OpenH264: lower ones spend bits on noise.
        private static let bestQP = 10
        private static let worstQP = 51
        private static let doublingStep = 6.0
        /// The size that a keyframe may have, in frames; at the same QP it has about this size.
        private static let keyframeShare = 6.0
        /// The bits of a keyframe's sample at `usualQP`, before the first is known.
        private static let usualBits = 0.5
        private static let usualQP = 30.0
        /// Between the shortest and the longest buffer that drivers are told of.
        private static let bufferTime = Duration.milliseconds(125)
        /// The least room for a frame in the buffer, as a number of frames' shares, where frames are rare.
        private static let leastShares = 2.0
        /// The peak falls by this much with each frame: four QPs in a second.
        private static let peakDecay = 0.02
        /// The most by which a QP is better than the last one. At low rates it takes only half of `doublingStep` to
        /// halve a frame.
        private static let greatestFall = 6
        private static let sampleBits = 16.0
        /// Smaller frames are headers, and say nothing.
        private static let leastBits = 64.0

        /// - Parameter leastQP: The best QP, for pictures no better than asked for.
        init(rate: EncodingRate, dimensions: VideoDimensions, leastQP: Int) {
            self.rate = rate
            meter = OverspendMeter(rate: rate, timeConstant: Self.bufferTime)
            formerMeter = meter
            mostBits = Double(max(1, dimensions.area)) * Self.sampleBits
            range = min(max(leastQP, Self.bestQP), Self.worstQP)...Self.worstQP
            keyframes = FrameComplexity(
                guess: log2(Double(max(1, dimensions.area)) * Self.usualBits) + Self.usualQP / Self.doublingStep)
        }

        mutating func setRate(_ rate: EncodingRate) {
            self.rate = rate
            meter.setRate(rate)
        }

        /// The QP of the next frame.
        func qp(isKeyframe: Bool) -> Int {
            let share = EncodingRate(bitRate: meter.allowance, frameRate: rate.frameRate).frameBits
            var exact: Double
            if isKeyframe {
                exact = Self.qp(keyframes.value, bits: share * Self.keyframeShare)
            } else {
                exact = max(
                    Self.qp(complexity, bits: share), Self.qp(peak, bits: room),
                    Double(lastQP - Self.greatestFall))
            }
            exact = min(max(exact, Double(range.lowerBound)), Double(range.upperBound))
            return Int(clamping: exact.rounded())
        }

        /// The complexity of other frames.
        private var complexity: Double { others.isKnown ? others.value : keyframes.value - log2(Self.keyframeShare) }

        /// The most bits of a frame that fits in the buffer.
        private var room: Double {
            max(rate.bitRate.dataSize(over: Self.bufferTime).bits, rate.frameBits * Self.leastShares)
        }

        private static func qp(_ complexity: Double, bits: Double) -> Double {
            (complexity - log2(max(1, bits))) * doublingStep
        }

        /// Takes the size of a frame.
        mutating func made(_ size: DataSize, qp: Int, isKeyframe: Bool) {
            formerMeter = meter
            meter.spend(size)
            let bits = min(max(size.bits, Self.leastBits), mostBits)
            let found = log2(bits) + Double(qp) / Self.doublingStep
            if isKeyframe {
                keyframes.take(found)
            } else {
                // After a change of scene, rarer than movement, the rate is not saved for the next one.
                let largest = complexity + log2(max(1, room)) - log2(max(1, rate.frameBits))
                peak = max(peak - Self.peakDecay, min(found, largest))
                others.take(found)
                lastQP = qp
            }
        }

        /// The last frame is not sent.
        mutating func withdrawLastFrame() { meter = formerMeter }
    }

    /// The size of a kind of frames: the logarithm to base 2 of the bits that one would take at QP 0.
    private struct FrameComplexity {
        private(set) var value = 0.0
        /// True once a frame was made.
        private(set) var isKnown = false

        /// The weights of the newest frame in the estimate: of a frame larger than the estimate, and of a smaller one.
        private static let weights = (larger: 0.4, smaller: 0.3)
        /// One small frame says little of the next.
        private static let greatestFall = 0.5

        init(guess: Double = 0) {
            value = guess
        }

        mutating func take(_ found: Double) {
            if isKnown {
                let change = found - value
                value += max(change * (change > 0 ? Self.weights.larger : Self.weights.smaller), -Self.greatestFall)
            } else {
                value = found
                isKnown = true
            }
        }
    }
#endif
