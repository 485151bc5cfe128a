import Foundation
import MediaCore
import MediaFiles
public import RoomAPI

/// The reason why a recording cannot be read.
public enum RecordingReadError: Error, Equatable, CustomStringConvertible {
    case noRecording(path: String)
    case unknownVersion(path: String, version: Int)
    /// Its picture and sound are one film already.
    case composite(path: String)
    /// The manifest's duration is none.
    case impossibleDuration(path: String)
    case damaged(path: String, line: Int)

    public var description: String {
        switch self {
        case .noRecording(let path):
            "\(path) is no recording: it has no readable \(RecordingManifest.fileName) and "
                + "\(RecordingManifest.timelineName)"
        case .unknownVersion(let path, let version):
            "\(path) is of version \(version); this program reads version \(RecordingManifest.currentVersion)"
        case .composite(let path):
            "\(path) has the room's picture and sound in one file already, in the folder tracks: there is nothing to "
                + "lay out"
        case .impossibleDuration(let path):
            "\(path) is damaged: its duration is none that a recording has; remove it there, and the recording is read "
                + "as far as it goes"
        case .damaged(let path, let line):
            "line \(line) of \(path) is no JSON object of a timeline, or has times that do not fit the duration in "
                + "\(RecordingManifest.fileName), or any recording"
        }
    }
}

/// A recording's folder, for those who play it. A recording whose relay was killed is read as far as it goes.
public struct RecordingReader: Sendable {
    public let path: String
    public let manifest: RecordingManifest
    /// In the order of time.
    public let entries: [RecordingTimelineEntry]
    /// The files of all tracks, the earliest first.
    public let files: [RecordedFile]

    /// No recording is longer, in seconds, whatever a damaged file says.
    static let longest = 1e9
    /// The farthest, in seconds, that a sample lies from the time at which it was written: senders' clocks run ahead.
    private static let lead = 10.0

    /// - Throws: `RecordingReadError`.
    public init(path: String) throws(RecordingReadError) {
        self.path = path
        let decoder = JSONDecoder()
        guard let data = FileManager.default.contents(atPath: "\(path)/\(RecordingManifest.fileName)"),
            let manifest = try? decoder.decode(RecordingManifest.self, from: data),
            let timeline = FileManager.default.contents(atPath: "\(path)/\(RecordingManifest.timelineName)")
        else { throw .noRecording(path: path) }
        guard manifest.version == RecordingManifest.currentVersion else {
            throw .unknownVersion(path: path, version: manifest.version)
        }
        guard manifest.mode == .tracks else { throw .composite(path: path) }
        guard (0...Self.longest).contains(manifest.duration ?? 0) else {
            throw .impossibleDuration(path: "\(path)/\(RecordingManifest.fileName)")
        }
        self.manifest = manifest
        let latest = min(manifest.duration.map { $0 + Self.lead } ?? Self.longest, Self.longest)
        var entries: [RecordingTimelineEntry] = []
        let lines = timeline.split(separator: UInt8(ascii: "\n"))
        let isWhole = timeline.last == UInt8(ascii: "\n")
        for (index, line) in lines.enumerated() {
            guard let entry = try? decoder.decode(RecordingTimelineEntry.self, from: Data(line)),
                Self.areTimesPossible(of: entry, until: latest)
            else {
                // The last line of a relay that was killed may be half a line.
                if index == lines.count - 1, !isWhole { break }
                throw .damaged(path: "\(path)/\(RecordingManifest.timelineName)", line: index + 1)
            }
            entries.append(entry)
        }
        self.entries = entries.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
            .map(\.element)
        var files: [String: RecordedFile] = [:]
        for entry in entries {
            switch entry.event {
            case .file(let file): if files[file.path] == nil { files[file.path] = file }
            case .fileEnded(let file): files[file.path] = file
            default: continue
            }
        }
        self.files = files.values.filter { !$0.path.contains("..") }.sorted {
            ($0.start, $0.path) < ($1.start, $1.path)
        }
    }

    /// Checks an entry's times. A damaged one would make the film years longer.
    private static func areTimesPossible(of entry: RecordingTimelineEntry, until latest: Double) -> Bool {
        guard entry.at >= -lead, entry.at <= latest else { return false }
        switch entry.event {
        case .file(let file), .fileEnded(let file):
            let duration = file.duration ?? 0
            return file.start >= -lead && duration >= 0 && file.start + duration <= entry.at + lead
        default: return true
        }
    }

    /// When there is nothing more to see or hear, in seconds of the recording.
    var end: Double {
        // Only a recording that ended says how late an event may be.
        let events = manifest.duration == nil ? [] : entries.map(\.at)
        return (files.map { end(of: $0) } + events).max() ?? 0
    }

    /// When a file ends, in seconds of the recording. That of a relay that was killed is read to find out.
    private func end(of file: RecordedFile) -> Double {
        file.start + (file.duration ?? Self.lastTime(in: "\(path)/\(file.path)", isVideo: file.track.content.isVideo))
    }

    /// The time of the last frame or packet that can be read.
    private static func lastTime(in path: String, isVideo: Bool) -> Double {
        var last = 0.0
        do throws(MediaFileError) {
            if isVideo {
                let reader = try MovieReader(path: path)
                while let sample = try reader.nextSample() { last = max(last, sample.presentationTime.seconds) }
            } else {
                let reader = try OpusReader(path: path)
                while let packet = try reader.nextPacket() { last = max(last, packet.presentationTime?.seconds ?? 0) }
            }
        } catch {
            // The rest cannot be read, and the film does without it.
        }
        return last
    }
}
