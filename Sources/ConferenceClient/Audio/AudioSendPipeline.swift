import Dispatch
import MediaCore

/// A client's sound on its way out.
///
/// `@unchecked Sendable` holds because the source is touched inside blocks on `queue` only, a serial queue.
final class AudioSendPipeline: @unchecked Sendable {
    let queue = DispatchQueue(label: "confclient.sound")
    private let source: any OpusSource

    init(source: any OpusSource) {
        self.source = source
    }

    /// Makes the next 20 ms, at this bitrate. Call on `queue` only.
    func produce(bitRate: BitRate?) throws(ClientError) -> OpusPacket {
        if let bitRate { source.setBitRate(bitRate) }
        return try source.nextPacket()
    }
}
