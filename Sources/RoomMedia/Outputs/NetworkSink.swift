import MediaCore
import MediaFiles
package import RoomAPI
import SecureTransport

/// A connection of an output to an RTMP or SRT server.
package final class NetworkSink: OutputSink {
    private let connection: StreamWriter.Connection
    private let audio: CompositeAudio
    private var writer: StreamWriter?
    /// Of the first picture.
    private var format: VideoFormatDescription?
    private var origin = MediaTime.zero

    /// FLV, which RTMP carries, has 31 bits of milliseconds: 24.8 days. Beyond, the times would begin at zero again.
    private static let longestConnection = Duration.seconds(24 * 86_400)

    /// Looks the host up, checks its address, and connects.
    ///
    /// - Parameter turn: Chooses among the host's addresses.
    package init(
        to target: StreamServer, rules: HostRules, turn: Int, isAbandoned: @escaping @Sendable () -> Bool
    ) throws(OutputFailure) {
        let addresses: [TransportAddress]
        do throws(HostResolver.NotFound) {
            addresses = try HostResolver.addresses(of: target.address.host, port: target.address.port)
        } catch {
            throw OutputFailure(reason: .nameNotFound, detail: error.detail)
        }
        let permitted = addresses.filter { rules.permits($0, ofHost: target.address.host) }
        // libavformat looks a name up by itself, and might take any of its addresses.
        guard !permitted.isEmpty, !target.isConnectedByName || permitted.count == addresses.count else {
            throw OutputFailure(
                reason: .notPermitted,
                detail: "the host's address is not public, and the relay's operator has not permitted it")
        }
        do {
            audio = try CompositeAudio()
        } catch {
            throw OutputFailure(reason: .failed, detail: "the relay cannot encode AAC")
        }
        do throws(StreamFailure) {
            connection = try StreamWriter.Connection(
                to: target.destination(at: permitted[turn % permitted.count]), isAbandoned: isAbandoned)
        } catch {
            throw OutputFailure(error)
        }
    }

    package func write(_ item: RecordingItem) throws(OutputFailure) {
        do throws(StreamFailure) {
            switch item.content {
            case .video(let sample, _): try write(sample)
            case .audio(let packet, let time, _): try write(packet, at: time)
            case .trackEnded, .anchored: return
            }
        } catch {
            throw OutputFailure(error)
        }
    }

    private func write(_ sample: SampleBuffer) throws(StreamFailure) {
        if writer == nil {
            writer = try StreamWriter(on: connection, video: sample.format, audio: audio.configuration)
            format = sample.format
            origin = sample.presentationTime
        }
        // A stream has one format: servers do not expect another one in it.
        guard sample.format == format else { throw .failed("the format of the pictures has changed") }
        guard (sample.presentationTime - origin).duration < Self.longestConnection else {
            finish()
            throw .failed("a connection lasts 24 days at most; the next one follows")
        }
        var sample = sample
        sample.presentationTime = sample.presentationTime - origin
        sample.decodeTime = sample.decodeTime.map { $0 - origin }
        try writer?.append(sample)
    }

    private func write(_ packet: BlockBuffer, at time: MediaTime) throws(StreamFailure) {
        guard let writer else { return }
        let packets: [AACEncoder.Packet]
        do {
            packets = try audio.encode(packet, at: time)
        } catch {
            throw .failed("the audio cannot be encoded")
        }
        for var packet in packets where packet.time >= origin {
            packet.time = packet.time - origin
            try writer.append(packet)
        }
    }

    package var bytesWritten: Int64 { writer?.bytesWritten ?? 0 }

    package func finish() {
        // The server may be gone.
        try? writer?.finish()
    }
}

extension OutputFailure {
    init(_ failure: StreamFailure) {
        switch failure {
        case .refused: self.init(reason: .refused)
        case .unreachable: self.init(reason: .unreachable)
        case .timedOut: self.init(reason: .timedOut)
        case .connectionLost: self.init(reason: .connectionLost)
        case .failed(let detail): self.init(reason: .failed, detail: detail)
        }
    }
}
