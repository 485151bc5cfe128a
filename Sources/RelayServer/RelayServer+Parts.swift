import Conference
import LoadControl
import Logging
import MediaCore
import RoomMedia
import SecureTransport
import VideoCoding

/// The parts of a server as its configuration describes them.
extension RelayServer {
    /// - Returns: nil: nothing is recorded of controllers.
    static func makeFlightFolder(
        _ configuration: RelayServerConfiguration, logger: Logger
    ) throws(StartupError) -> FlightFolder? {
        guard let path = configuration.flightRecorderFolder else { return nil }
        return try FlightFolder(
            path: path, limit: configuration.flightRecorderLimit,
            maximumFileCount: configuration.flightRecorderFiles, logger: logger)
    }

    /// - Returns: nil: rooms are not recorded.
    static func makeRecordings(_ configuration: RelayServerConfiguration) throws(StartupError) -> RecordingStore? {
        guard let settings = configuration.recordings else { return nil }
        do throws(WritablePath.NotUsable) {
            return try RecordingStore(settings: settings)
        } catch {
            throw WrittenPath.recordings(settings).failure(error)
        }
    }

    /// The certificate of media, which lives as long as the server.
    static func makeCertificate() throws(StartupError) -> DTLSCertificate {
        do throws(DTLSError) {
            return try DTLSCertificate()
        } catch {
            throw .secureTransport(reason: "\(error)")
        }
    }
}

extension StreamHub {
    /// - Returns: nil: rooms are not streamed.
    init?(_ configuration: RelayServerConfiguration, logger: Logger) {
        guard configuration.servesStreams else { return nil }
        self.init(
            settings: .init(frameRate: configuration.relay.frameRate, bitRate: configuration.relay.maximumBitRate),
            logger: logger)
    }
}

extension CalibrationRun {
    /// - Returns: nil: seats are not counted.
    init?(_ configuration: RelayServerConfiguration) {
        let relay = configuration.relay
        guard relay.overload != nil else { return nil }
        self.init(
            canvas: relay.canvas, encoder: relay.encoder, limit: configuration.calibrationLimit,
            processorTime: ProcessorClock.ofThisThread,
            devices: .init(
                encoding: relay.hardware?.device, decoding: relay.decodingDevice,
                makeCompositor: relay.composingDevice?.makeCompositor, now: { .now() }))
    }
}
