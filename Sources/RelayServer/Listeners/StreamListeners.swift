import Logging
import NIOCore
import RoomMedia
import Synchronization

/// The ports on which streams are pushed to the relay.
final class StreamListeners: Sendable {
    private let host: String
    private let rtmpPort: UInt16?
    private let srtPort: UInt16?
    private let logger: Logger
    private let open = Mutex<(rtmp: RTMPListener?, srt: SRTListener?)>((nil, nil))

    /// Nil if no streams are taken.
    init?(_ configuration: RelayServerConfiguration, logger: Logger) {
        guard configuration.rtmpPort != nil || configuration.srtPort != nil else { return nil }
        host = configuration.host
        rtmpPort = configuration.rtmpPort
        srtPort = configuration.srtPort
        self.logger = logger
    }

    /// Listens.
    func open(admission: StreamAdmission) async throws(StartupError) {
        if let rtmpPort {
            do {
                let listener = try await RTMPListener.bind(
                    host: host, port: rtmpPort, admission: admission, logger: logger)
                open.withLock { $0.rtmp = listener }
                logger.notice("takes streams by RTMP", metadata: ["port": "\(listener.port ?? Int(rtmpPort))"])
            } catch {
                throw .streamPortNotUsable(
                    option: "--rtmp-port", port: Int(rtmpPort),
                    reason: PortBinder.reason(error))
            }
        }
        if let srtPort {
            guard let address = try? SocketAddress.makeAddressResolvingHost(host, port: Int(srtPort)) else {
                throw .unknownHost(host)
            }
            do throws(SRTListener.BindError) {
                let listener = try SRTListener(address, admission: admission, logger: logger)
                open.withLock { $0.srt = listener }
                logger.notice("takes streams by SRT", metadata: ["port": "\(listener.port)"])
            } catch {
                throw .streamPortNotUsable(
                    option: "--srt-port", port: Int(srtPort),
                    reason: error.code == 0 ? error.reason : PortBinder.reason(code: error.code))
            }
        }
    }

    /// Listens no longer.
    func close() {
        let listeners = open.withLock { listeners in
            defer { listeners = (nil, nil) }
            return listeners
        }
        listeners.rtmp?.close()
        listeners.srt?.close()
    }
}
