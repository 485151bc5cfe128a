import CongestionControl
import EncoderSharing
import LoadControl
import MediaCore
import VideoCoding

@testable import Conference

extension EncodeGroup {
    /// A group of an encoder of OpenH264.
    ///
    /// - Parameters:
    ///   - content: The complexity of its pictures; nil: not known.
    ///   - workshop: Makes the encoder's sessions; nil: they are usual ones.
    convenience init(
        dimensions: VideoDimensions, rate: BitRate, preference: Ladder.DegradationPreference = .motion,
        content: ContentComplexity? = nil, isSmallerThanCanvas: Bool = false,
        keyframeSizes: KeyframeSizeModel = KeyframeSizeModel(), workshop: EncoderWorkshop? = nil
    ) {
        let format = EncodeFormat(
            dimensions: dimensions, properties: CompressionProperties(), isSmallerThanCanvas: isSmallerThanCanvas)
        self.init(
            id: EncodeGroupID(rawValue: 1), queue: JobQueueID(rawValue: 1), format: format,
            encoder: LazyEncoder(backEnd: .openH264, make: workshop?.maker, format: format),
            bitRate: VideoBitRate(target: rate, sustained: rate),
            rung: RungSelector(
                ladder: Ladder(canvas: dimensions, frameRate: 30, preference: preference), rate: rate,
                cost: content),
            keyframeSizes: keyframeSizes, keyframeShare: 0.05)
    }

    /// Has a picture encoded at once. Returns what became of it; nil if it was not to be encoded.
    func encode(_ picture: PixelBuffer, keyframeBound: DataSize, now: MonotonicInstant) -> EncodedPicture? {
        let request = Request(picture, at: now)
        let demand = Demand.room(keyframeBound: keyframeBound)
        guard case .encoded(let job) = tick(request, demand: demand, now: now) else { return nil }
        let completion = job.run { now }
        guard case .encoded(_, let result) = completion.output else { return nil }
        complete(result, of: completion)
        return result
    }
}

extension EncodeGroup.Demand {
    /// That of receivers with room for a frame.
    static func room(keyframeBound: DataSize) -> Self {
        var demand = Self(activeHasRoom: true)
        demand.bound(to: keyframeBound)
        return demand
    }
}

extension EncodeGroup.Request {
    /// A picture of one of 30 ticks a second.
    ///
    /// - Parameter deadline: Nil: the tick.
    init(_ picture: PixelBuffer, at time: MonotonicInstant, deadline: MonotonicInstant? = nil) {
        var composed = ComposedTick(
            captureTime: time, composed: [], plan: ViewPlan(), frames: [], sourceCount: 0, handedOut: time)
        composed.pictures = [picture]
        composed.sources = [[]]
        self.init(
            tick: composed, index: 0, room: "room", deadline: deadline ?? time, limits: WorkLimits(), tickRate: 30)
    }
}
