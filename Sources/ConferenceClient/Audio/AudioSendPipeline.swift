import Dispatch
import MediaCore

/// A client's audio on its way out.
///
/// `@unchecked Sendable` holds because the source is touched inside blocks on `queue` only, a serial queue, or on the
/// client's event loop only where packets lie ready.
final class AudioSendPipeline: @unchecked Sendable {
    let queue = DispatchQueue(label: "confclient.audio")
    private let source: any OpusSource

    init(source: any OpusSource) {
        self.source = source
    }

    /// True if packets are ready, so that `queue` is not needed.
    var isImmediate: Bool { source.isImmediate }

    /// Makes the next 20 ms, at this bitrate. Call on `queue` only, unless packets lie ready.
    func produce(bitRate: BitRate?) throws(ClientError) -> OpusPacket {
        if let bitRate { source.setBitRate(bitRate) }
        return try source.nextPacket()
    }
}
