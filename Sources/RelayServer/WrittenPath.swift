import RoomMedia

/// A path at which a relay writes.
enum WrittenPath {
    case flightRecordings(String)
    case recordings(RecordingSettings)
    case webhookQueue(String)
    case eventLog(String)

    static func all(of configuration: RelayServerConfiguration) -> [WrittenPath] {
        let queue = configuration.webhooks.isEmpty ? nil : configuration.webhookQueueFolder
        return [
            configuration.flightRecorderFolder.map { .flightRecordings($0) },
            configuration.recordings.map { .recordings($0) },
            queue.map { .webhookQueue($0) },
            configuration.eventLog.map { .eventLog($0) },
        ].compactMap(\.self)
    }

    private var path: String {
        switch self {
        case .flightRecordings(let path), .webhookQueue(let path), .eventLog(let path): path
        case .recordings(let settings): settings.folder
        }
    }

    /// Says why the relay could not write there, and changes nothing.
    func check() throws(StartupError) {
        do throws(WritablePath.NotUsable) {
            if case .eventLog = self {
                try WritablePath.checkFile(path)
            } else {
                try WritablePath.checkFolder(path)
            }
        } catch {
            throw failure(error)
        }
    }

    /// Makes the folder if it is not there, and sees that it can be written to.
    func makeFolder() throws(StartupError) {
        do throws(WritablePath.NotUsable) {
            try WritablePath.makeFolder(path)
        } catch {
            throw failure(error)
        }
    }

    func failure(_ error: WritablePath.NotUsable) -> StartupError {
        switch self {
        case .flightRecordings(let path): .folderNotUsable(path: path, reason: error.reason)
        case .recordings(let settings):
            .recordingsNotUsable(
                option: settings.recordsAll ? "--record-all" : "--recordings", path: path, reason: error.reason)
        case .webhookQueue(let path): .webhookQueueNotUsable(path: path, reason: error.reason)
        case .eventLog(let path): .eventLogNotUsable(path: path, reason: error.reason)
        }
    }
}
