import ArgumentParser
import MediaCore
import RelayServer
import RoomMedia

/// The rooms to record, the folder, and the time for which recordings are kept.
struct RecordingOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Let rooms be recorded, each recording into a folder of its own in this one.",
            discussion: """
                POST /rooms/{room}/recordings or confclient record start begins one. Everybody in the room is told, on \
                the page and in the picture. docs/recording.md describes the files.
                """,
            valueName: "DIR"))
    var recordings: String?

    @Option(
        help: ArgumentHelp(
            "Record every room into this folder, from its first participant on. Includes --recordings.",
            valueName: "DIR"))
    var recordAll: String?

    @Option(
        help: ArgumentHelp(
            "Delete recordings that ended so long ago: 30d, 12h. By default they are kept until somebody deletes them.",
            valueName: "time"),
        transform: Duration.init(retention:))
    var recordingsKeep: Duration?

    @Option(
        help: ArgumentHelp(
            "End recordings when the disk has less free space than this. (default: 500MB)", valueName: "size"),
        transform: DataSize.init(option:))
    var recordingsFree = RecordingSettings(folder: "").minimumFreeSpace

    func validate() throws {
        if let recordings, let recordAll, recordings != recordAll {
            throw ValidationError("--recordings and --record-all name different folders; give one of them")
        }
        if recordingsKeep != nil, recordings ?? recordAll == nil {
            throw ValidationError("--recordings-keep is about a folder: give --recordings DIR or --record-all DIR")
        }
    }

    /// nil: nothing is recorded.
    var settings: RecordingSettings? {
        guard let folder = recordAll ?? recordings else { return nil }
        var settings = RecordingSettings(folder: folder)
        settings.recordsAll = recordAll != nil
        settings.keep = recordingsKeep
        settings.minimumFreeSpace = recordingsFree
        return settings
    }
}

extension Duration {
    /// Parses how long something is kept: days, hours or minutes, such as `30d`, `12h` or `90min`.
    fileprivate init(retention text: String) throws {
        for (suffix, seconds) in [("d", 86_400), ("h", 3600), ("min", 60)] where text.hasSuffix(suffix) {
            let digits = text.dropLast(suffix.count)
            guard let count = Int(digits), count > 0, count <= 36_500 else { break }
            self = .seconds(count * seconds)
            return
        }
        throw ValidationError("give days, hours or minutes, such as 30d, 12h or 90min")
    }
}
