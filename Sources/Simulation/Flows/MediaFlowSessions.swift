import MediaCore
import SDP
import SecureTransport

/// The sessions that the two ends of a flow would have negotiated with an offer and an answer.
struct MediaFlowSessions {
    private(set) var sender: NegotiatedSession
    private(set) var receiver: NegotiatedSession

    static let senderAddress = TransportAddress(ipv4: 0x0a00_0001, port: 5004)
    static let receiverAddress = TransportAddress(ipv4: 0x0a00_0002, port: 5004)

    /// The payload types of the sender's streams.
    enum PayloadType {
        static let video: UInt8 = 96
        static let retransmission: UInt8 = 97
        static let audio: UInt8 = 111
    }

    private enum SSRC {
        static let video: UInt32 = 0x1001
        static let retransmission: UInt32 = 0x1002
        static let audio: UInt32 = 0x1003
        static let videoReceiver: UInt32 = 0x2001
        static let audioReceiver: UInt32 = 0x2002
    }

    private static let transportSequenceID: UInt8 = 3

    init(_ parameters: MediaFlowParameters) {
        var sent = [Self.video(parameters, sends: true)]
        var received = [Self.video(parameters, sends: false)]
        if let rate = parameters.audio {
            sent.append(Self.audio(parameters, rate: rate, sends: true))
            received.append(Self.audio(parameters, rate: rate, sends: false))
        }
        sender = NegotiatedSession(media: sent, cname: "sender", isBundled: true)
        receiver = NegotiatedSession(media: received, cname: "receiver", isBundled: true)
    }

    private static func video(_ parameters: MediaFlowParameters, sends: Bool) -> NegotiatedMedia {
        let repairs = parameters.repair == .nack
        var media = NegotiatedMedia(
            kind: .video, index: 0, payloadType: PayloadType.video,
            retransmissionPayloadType: repairs ? PayloadType.retransmission : nil,
            direction: sends ? .sendOnly : .receiveOnly, keys: nil,
            h264: H264FormatParameters(profileLevelID: nil, packetizationMode: 1),
            feedback: feedback(parameters, FeedbackSupport(nack: repairs, pli: true, fir: true)),
            extensionIDs: extensions(parameters), outboundExtensionIDs: extensions(parameters),
            remoteSSRCs: [sends ? SSRC.videoReceiver : SSRC.video],
            localSSRC: sends ? SSRC.video : SSRC.videoReceiver, reducedSizeRTCP: true,
            remoteRTPAddress: sends ? receiverAddress : senderAddress)
        if repairs, sends { media.localRetransmissionSSRC = SSRC.retransmission }
        if repairs, !sends { media.remoteRetransmissionSSRCs = [SSRC.retransmission: SSRC.video] }
        return media
    }

    private static func audio(_ parameters: MediaFlowParameters, rate: BitRate, sends: Bool) -> NegotiatedMedia {
        NegotiatedMedia(
            kind: .audio, index: 1, payloadType: PayloadType.audio,
            direction: sends ? .sendOnly : .receiveOnly, keys: nil,
            opus: OpusFormatParameters(maximumAverageBitRate: rate),
            feedback: feedback(parameters, FeedbackSupport()),
            extensionIDs: extensions(parameters), outboundExtensionIDs: extensions(parameters),
            remoteSSRCs: [sends ? SSRC.audioReceiver : SSRC.audio],
            localSSRC: sends ? SSRC.audio : SSRC.audioReceiver, reducedSizeRTCP: true,
            remoteRTPAddress: sends ? receiverAddress : senderAddress)
    }

    /// Adds the kind of feedback that the controller needs to a stream's feedback.
    private static func feedback(_ parameters: MediaFlowParameters, _ stream: FeedbackSupport) -> FeedbackSupport {
        var stream = stream
        switch parameters.feedback {
        case .transportWide: stream.transportCC = true
        case .congestionControl: stream.congestionControl = true
        case .receiverReports: break
        }
        return stream
    }

    private static func extensions(_ parameters: MediaFlowParameters) -> HeaderExtensionIDs {
        HeaderExtensionIDs(
            transportSequenceNumber: parameters.feedback == .transportWide ? transportSequenceID : nil)
    }
}
