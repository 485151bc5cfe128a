import FlightFiles
import FlightRecording
import Foundation
import Logging
import MediaCore

/// The folder in which a relay records the inputs and decisions of its controllers, a file for each participant.
final class FlightFolder: Sendable {
    private let path: String
    private let limit: DataSize
    private let writer: FlightFileWriter

    /// Makes the folder if it is not there, and sees that it can be written to.
    init(path: String, limit: DataSize, maximumFileCount: Int, logger: Logger) throws(StartupError) {
        self.path = path
        self.limit = limit
        try WrittenPath.flightRecordings(path).makeFolder()
        let retention = FlightFileRetention(folder: path, maximumCount: maximumFileCount)
        writer = FlightFileWriter(retention: retention) { logger.warning("\($0)") }
    }

    /// Makes a recorder that writes a new file. It does not wait for the disk.
    func makeRecorder(_ header: FlightHeader) -> FlightRecorder {
        var header = header
        header.program = "confrelay \(RelayVersion.current)"
        header.wallClockMilliseconds = Int64(clamping: Date().timeIntervalSince1970 * 1000)
        let file = path + "/" + FlightFileName.make(for: header)
        return FlightRecorder(header: header, limit: limit, sink: writer.makeSink(path: file, opening: .create))
    }

    /// Ends all recordings.
    func close() async {
        await writer.shutDown()
    }
}
