import Foundation
package import MediaCore
import MediaFiles
import NIOCore
package import RoomAPI

/// A recording's folder, while it is written: the manifest, the timeline, and a file for each stretch of each track.
///
/// Belongs to one thread.
package final class RecordingFolder {
    private let path: String
    private let files: any RecordingFileSystem
    private let minimumFreeSpace: DataSize
    private var manifest: RecordingManifest
    private var timeline: (any RecordingFile)?
    private var tracks: [RecordingTrack: TrackFile] = [:]
    private var fileNumbers: [RecordingTrack: Int] = [:]
    /// As the timeline has them. They hold in the next files of a track, too.
    private var rotations: [RecordingTrack: VideoRotation] = [:]
    private var nextCheck: MonotonicInstant
    private var nextSynchronization: MonotonicInstant
    private var isTimelineSynchronized = true

    private static let checkInterval = Duration.seconds(1)

    package init(
        path: String, manifest: RecordingManifest, files: any RecordingFileSystem, minimumFreeSpace: DataSize,
        now: MonotonicInstant
    ) {
        self.path = path
        self.manifest = manifest
        self.files = files
        self.minimumFreeSpace = minimumFreeSpace
        nextCheck = now + Self.checkInterval
        nextSynchronization = now + RecordingSettings.synchronizeInterval
    }

    /// Makes the folder and what is in it from the beginning.
    func open() throws {
        try checkSpace()
        try files.makeFolder("\(path)/\(RecordingManifest.trackFolder)")
        try writeManifest()
        timeline = try files.create("\(path)/\(RecordingManifest.timelineName)")
    }

    // MARK: Writing

    func write(_ item: RecordingItem, now: MonotonicInstant) throws {
        switch item.content {
        case .video(let sample, let rotation):
            if let known = tracks[item.track], sample.isSync, known.format != sample.format {
                try finish(item.track, at: item.at)
            }
            let file = try self.file(item.track, format: sample.format, start: sample.presentationTime, at: item.at)
            if rotations[item.track, default: .none] != rotation {
                rotations[item.track] = rotation
                try write(
                    .rotation(item.track, degrees: Int(rotation.rawValue) * 90), at: sample.presentationTime.seconds)
            }
            try attempt(file) { try file.append(sample, now: now) }
        case .audio(let payload, let time, let duration) where item.track == .composite:
            // Its file begins with a picture.
            guard let file = tracks[item.track] else { return }
            try attempt(file) { try file.append(payload, time: time, duration: duration, now: now) }
        case .audio(let payload, let time, let duration):
            let file = try self.file(item.track, format: nil, start: time, at: item.at)
            try attempt(file) { try file.append(payload, time: time, duration: duration, now: now) }
        case .trackEnded: try finish(item.track, at: item.at)
        case .anchored: try write(.anchored(item.track), at: item.at.seconds)
        }
    }

    func write(_ event: RecordingTimelineEntry.Event, at time: Double) throws {
        // Microseconds: enough for anything that a person or a film does.
        let entry = RecordingTimelineEntry(at: (time * 1e6).rounded() / 1e6, event)
        var line = ByteBuffer(bytes: try JSONEncoder.compact.encode(entry))
        line.writeString("\n")
        try timeline?.append(line)
        isTimelineSynchronized = false
    }

    private func file(
        _ track: RecordingTrack, format: VideoFormatDescription?, start: MediaTime, at time: Duration
    ) throws -> TrackFile {
        if let known = tracks[track] { return known }
        let number = fileNumbers[track, default: 0] + 1
        fileNumbers[track] = number
        let digits = String(number)
        let name =
            "\(RecordingManifest.trackFolder)/\(track.fileNamePrefix)-"
            + "\(String(repeating: "0", count: max(0, 3 - digits.count)))\(digits).mp4"
        let made = try TrackFile(
            track: track, path: name, file: files.create("\(path)/\(name)"), format: format, start: start)
        tracks[track] = made
        try write(.file(made.description), at: start.seconds)
        return made
    }

    /// Throws the error of the file itself, if there is one: it tells whether the disk is full.
    private func attempt(_ file: TrackFile, _ work: () throws -> Void) throws {
        do {
            try work()
        } catch {
            throw file.failure ?? error
        }
    }

    private func finish(_ track: RecordingTrack, at time: Duration) throws {
        guard let file = tracks.removeValue(forKey: track) else { return }
        do {
            try file.finish()
        } catch {
            file.abandon()
            manifest.files.append(file.description)
            throw file.failure ?? error
        }
        try complete(file, at: time)
    }

    private func complete(_ file: TrackFile, at time: Duration) throws {
        manifest.files.append(file.description)
        try write(.fileEnded(file.description), at: time.seconds)
    }

    // MARK: Time

    /// Performs the work that is due: ends fragments, checks the free space, makes the files durable.
    ///
    /// - Throws: `RecordingFileError`, also if there is too little space left, or somebody has removed the folder.
    func tick(now: MonotonicInstant) throws {
        guard now >= nextCheck else { return }
        nextCheck = now + Self.checkInterval
        // Writes to files that were removed succeed: only the name shows that they are gone.
        guard files.hasFile(manifestPath) else {
            throw RecordingFileError(path: path, isDiskFull: false, reason: "the folder is gone")
        }
        for file in tracks.values { try attempt(file) { try file.flushIfDue(now: now) } }
        try checkSpace()
        guard now >= nextSynchronization else { return }
        nextSynchronization = now + RecordingSettings.synchronizeInterval
        for file in tracks.values { try file.synchronize() }
        if !isTimelineSynchronized { try timeline?.synchronize() }
        isTimelineSynchronized = true
    }

    private func checkSpace() throws(RecordingFileError) {
        let folder = String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
        try files.checkSpace(in: folder, keeping: minimumFreeSpace)
    }

    // MARK: The end

    /// Ends all files and writes the manifest. What cannot be written any more is left out.
    func close(_ reason: RecordingEndReason, at time: Duration, ended: String) {
        for (track, file) in tracks.sorted(by: { $0.value.description.path < $1.value.description.path }) {
            tracks[track] = nil
            if file.failure == nil, (try? file.finish()) != nil {
                try? complete(file, at: time)
            } else {
                file.abandon()
                manifest.files.append(file.description)
            }
        }
        try? write(.ended(reason), at: time.seconds)
        try? timeline?.synchronize()
        timeline?.close()
        timeline = nil
        manifest.ended = ended
        manifest.duration = time.seconds
        manifest.reason = reason
        try? writeManifest()
    }

    private var manifestPath: String { "\(path)/\(RecordingManifest.fileName)" }

    private func writeManifest() throws {
        var text = ByteBuffer(bytes: try JSONEncoder.readable.encode(manifest))
        text.writeString("\n")
        try files.replace(manifestPath, with: text)
    }
}
