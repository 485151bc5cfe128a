/// An offer that waits for its answer: what was offered, with the keys and sources made for it.
public struct PendingOffer: Sendable {
    struct Stream: Sendable {
        enum Format: Sendable {
            case h264(H264FormatParameters)
            case opus
        }

        var kind: NegotiatedMedia.Kind
        var mid: String?
        /// What the offerer allows, as it sees it.
        var direction: MediaDirection
        var ssrc: UInt32
        /// The offered formats by their payload types.
        var formats: [UInt8: Format]
        /// The offered keys by their tags.
        var keys: [UInt32: SRTPKeyMaterial]
        var extensions: [ExtensionMap]
        var feedback: FeedbackSupport
    }

    var parameters: OfferParameters
    var cname: String
    /// In the order of the offer's `m=` lines.
    var streams: [Stream]
}
