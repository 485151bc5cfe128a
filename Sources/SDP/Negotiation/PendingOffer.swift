import SecureTransport

/// An offer that waits for its answer, with the keys and sources made for it.
public struct PendingOffer: Sendable {
    struct Stream: Sendable {
        enum Format: Sendable {
            /// An H.264 format, and the payload type of its retransmissions.
            case h264(H264FormatParameters, retransmissionPayloadType: UInt8?)
            case opus
        }

        var kind: NegotiatedMedia.Kind
        var content: NegotiatedMedia.Content
        /// False if the line only keeps the place of a stream that is no longer wanted.
        var isOffered: Bool
        var mid: String?
        /// The direction that the offerer allows, as it sees it.
        var direction: MediaDirection
        var ssrc: UInt32
        var retransmissionSSRC: UInt32?
        /// Forward error correction: its payload type and its source.
        var flexFEC: (payloadType: UInt8, ssrc: UInt32)?
        /// The payload type of packets that repeat earlier audio.
        var redundancyPayloadType: UInt8?
        /// The offered formats by their payload types.
        var formats: [UInt8: Format]
        /// The offered keys by their tags.
        var keys: [UInt32: SRTPKeyMaterial]
        var extensions: [ExtensionMap]
        var feedback: FeedbackSupport
    }

    var parameters: OfferParameters
    var cname: String
    var origin: SessionDescription.Origin
    /// The streams in the order of the offer's `m=` lines.
    var streams: [Stream]
}

extension OfferParameters {
    /// Returns the offered parameters of a stream; nil if it is not wanted.
    func media(_ kind: NegotiatedMedia.Kind, _ content: NegotiatedMedia.Content) -> Media? {
        switch (kind, content) {
        case (.audio, _): audio.map { Media(direction: $0.direction, feedback: $0.feedback) }
        case (.video, .main): video.map { Media(direction: $0.direction, feedback: $0.feedback, video: $0) }
        case (.video, .screenShare):
            screenShare.map { Media(direction: $0.direction, feedback: $0.feedback, video: $0) }
        // Links between relays are not offered.
        case (.video, .relayed): nil
        }
    }

    /// The parameters that all kinds of streams have.
    struct Media {
        var direction: MediaDirection
        var feedback: FeedbackSupport
        /// The parameters that only video has.
        var video: Video?
    }

    var isOverDTLS: Bool {
        if case .dtls = transport { return true }
        return false
    }

    var isBundled: Bool { bundle || isOverDTLS }
    var isMultiplexed: Bool { rtcpMux || isOverDTLS }

    /// The transport's name in the `m=` lines.
    var mediaTransport: MediaTransport {
        .rtp(keying: isOverDTLS ? .dtls : .sessionDescription, feedback: usesFeedbackProfile)
    }
}
