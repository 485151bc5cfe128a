public import MediaCore

/// Options of one frame.
public struct EncodeOptions: Hashable, Sendable {
    /// Makes the frame an IDR picture.
    public var forceKeyframe = false
    /// The presentation time of the first frame that was not received or not decoded: no later frame may refer to it or
    /// to its successors. Without an older reference the frame becomes a keyframe.
    public var invalidateReferencesBackTo: MediaTime?
    /// References that the receiver has confirmed, by the frames that came with them.
    public var acknowledgedReferences: [LongTermReference] = []
    /// The regions that get more or fewer bits. In an overlap the last region counts.
    public var regionsOfInterest: [RegionOfInterest] = []

    /// The QP at which a keyframe of this picture probably keeps its limit, as an earlier session's keyframes tell; one
    /// that the session's own keyframes tell goes before. Nil: the session tries.
    package var expectedKeyframeQP: Int?

    public init(forceKeyframe: Bool = false) {
        self.forceKeyframe = forceKeyframe
    }

    public init(invalidateReferencesBackTo time: MediaTime) {
        invalidateReferencesBackTo = time
    }
}

/// The kinds of options of one frame.
public enum EncodeOption: String, CaseIterable, Sendable {
    case forceKeyframe
    case invalidateReferences
    case acknowledgeReferences
    case regionsOfInterest
}

/// A part of a picture to encode better or worse than the rest.
public struct RegionOfInterest: Hashable, Sendable {
    /// The rectangle in luma samples; every macroblock that it touches belongs to the region.
    public var rect: PixelRect
    /// The offset of the quantisation parameter, -51 to 51: negative for a better picture. 6 is twice the step size.
    public var qpOffset: Int

    public init(rect: PixelRect, qpOffset: Int) {
        self.rect = rect
        self.qpOffset = qpOffset
    }
}

/// Names a frame that the encoder keeps, and may go back to once the receiver is known to have it.
public struct LongTermReference: Hashable, Sendable {
    /// `frame_num` (H.264 7.4.3) of the frame that is kept.
    public var frameNumber: Int
    /// `idr_pic_id` of the keyframe before it.
    public var keyframeID: Int

    public init(frameNumber: Int, keyframeID: Int) {
        self.frameNumber = frameNumber
        self.keyframeID = keyframeID
    }
}
