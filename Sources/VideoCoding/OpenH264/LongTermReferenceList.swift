/// The long-term references of OpenH264, as far as its feedback by frame numbers goes.
///
/// A keyframe is kept and counts as received. From time to time another frame is marked; it is used only after it was
/// acknowledged, and no other is marked before that.
struct LongTermReferenceList {
    /// A request to go back behind lost frames, in `frame_num`s.
    struct Request {
        var keyframeID: Int
        var lastGood: Int
        var newest: Int
    }

    private struct Frame {
        var serial: Int64
        var number: Int
    }

    /// The last reference frames, newest at `newest`, in a ring.
    private var frames: [Frame] = Array(repeating: Frame(serial: -1, number: 0), count: 128)
    private var newest = 0
    private var keyframeID = 0
    private var keyframeSerial: Int64 = 0
    /// The frame that was marked last, and its number in the session.
    private var marked: (reference: LongTermReference, serial: Int64)?
    /// The newest frame that the receiver has for certain.
    private var acknowledgedSerial: Int64 = 0

    /// Takes a frame, and returns the reference that is kept from it on, if there is a new one.
    mutating func add(_ slice: SliceSummary, serial: Int64) -> LongTermReference? {
        if let id = slice.keyframeID {
            for index in frames.indices { frames[index].serial = -1 }
            keyframeID = id
            keyframeSerial = serial
            acknowledgedSerial = serial
            marked = nil
        }
        newest = (newest + 1) % frames.count
        frames[newest] = Frame(serial: serial, number: slice.frameNumber)
        guard let number = slice.markedFrameNumber,
            let frame = recentFrames.first(where: { $0.number == number })
        else { return nil }
        let reference = LongTermReference(frameNumber: number, keyframeID: keyframeID)
        marked = (reference, frame.serial)
        return reference
    }

    /// Acknowledges `reference`; returns true if it is the one that waits for this.
    mutating func acknowledge(_ reference: LongTermReference) -> Bool {
        guard let waiting = marked, waiting.reference == reference else { return false }
        acknowledgedSerial = waiting.serial
        marked = nil
        return true
    }

    /// Returns the request that makes the encoder refer to a frame before `serial`; nil if no frame is left that the
    /// receiver has for certain.
    mutating func invalidate(from serial: Int64) -> Request? {
        guard serial > keyframeSerial, serial > acknowledgedSerial,
            let lastGood = recentFrames.first(where: { $0.serial < serial })
        else { return nil }
        if let waiting = marked, waiting.serial >= serial { marked = nil }
        return Request(keyframeID: keyframeID, lastGood: lastGood.number, newest: frames[newest].number)
    }

    /// The frames since the keyframe, newest first.
    private var recentFrames: some Sequence<Frame> {
        (0..<frames.count).lazy
            .map { frames[(newest - $0 + frames.count) % frames.count] }
            .prefix { $0.serial >= 0 }
    }
}
