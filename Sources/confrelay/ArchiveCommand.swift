import ArgumentParser
import Foundation
import MediaCore
import MediaFiles
import RelayServer
import RoomAPI
import Synchronization

/// Makes a film of a recording.
struct ArchiveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "confrelay archive", abstract: "Make a film of a recording.",
        discussion: """
            Plays the recording's timeline and tracks, composes them with the room's layout or another, and encodes \
            them in several passes. Give the bitrate of the video, the size of the file, or a quality.

            confrelay archive recordings/20261124T221500Z-k3v9ab -o film.mp4
            confrelay archive recordings/20261124T221500Z-k3v9ab -o film.mp4 --layout speaker --size 100MB

            Ctrl-C keeps what is done; the same command goes on from there. Exit codes: 0 the film is done; 64 an \
            option is wrong; 66 the recording cannot be read; 70 it could not be encoded or written; 130 cancelled.
            """)

    @Argument(help: ArgumentHelp("The recording's folder.", valueName: "DIR"))
    var folder: String

    @Option(name: .shortAndLong, help: ArgumentHelp("The film, an MP4 file.", valueName: "FILE"))
    var output: String

    @Option(help: ArgumentHelp("How the film is laid out; by default as the room was.", valueName: "layout"))
    var layout: String?

    @Option(
        help: ArgumentHelp("Size of the picture in pixels, both numbers even. (default: 1280x720)", valueName: "WxH"),
        transform: VideoDimensions.init(option:))
    var canvas = VideoDimensions(width: 1280, height: 720)

    @Option(help: ArgumentHelp("Pictures a second, 1 to 60.", valueName: "fps"))
    var frameRate = 30

    @Option(
        help: ArgumentHelp("Average bitrate of the video. (default: 1M)", valueName: "rate"),
        transform: BitRate.init(option:))
    var bitrate: BitRate?

    @Option(
        help: ArgumentHelp("Size of the file, such as 100MB.", valueName: "size"), transform: DataSize.init(option:))
    var size: DataSize?

    @Option(help: ArgumentHelp("One quality throughout, 0 to 1, whatever size it takes.", valueName: "q"))
    var quality: Double?

    @Flag(help: "Do not show how far it is.")
    var quiet = false

    private var mode: LayoutMode? {
        layout.flatMap { LayoutMode.Name(rawValue: $0) }.flatMap { $0.isAboutParticipant ? nil : LayoutMode($0) }
    }

    func validate() throws {
        try MediaOptions.check(canvas)
        guard (1...60).contains(frameRate) else {
            throw ValidationError("--frame-rate \(frameRate) is not possible: choose 1 to 60 pictures a second")
        }
        if let layout, mode == nil {
            let names = LayoutMode.Name.builtIn.filter { !$0.isAboutParticipant }.map(\.rawValue)
            throw ValidationError("--layout \(layout) is not possible: choose \(names.joined(separator: ", "))")
        }
        if [bitrate != nil, size != nil, quality != nil].count(where: { $0 }) > 1 {
            throw ValidationError("--bitrate, --size and --quality exclude each other; give one of them")
        }
        if let quality, !(0...1).contains(quality) {
            throw ValidationError("--quality \(quality) is not possible: choose 0 to 1")
        }
    }

    private var target: ExportSettings.Target {
        if let size { return .size(size) }
        if let quality { return .quality(quality) }
        return .bitRate(bitrate ?? .megabits(1))
    }

    func run() throws {
        let film: RecordingFilm
        do {
            film = try RecordingFilm(path: folder, canvas: canvas, frameRate: frameRate, layout: mode)
        } catch {
            throw CommandFailure(.noInput, "\(error)")
        }
        let session = ExportSession(
            source: film, settings: ExportSettings(dimensions: canvas, frameRate: frameRate, target: target),
            path: output)
        signal(SIGINT) { _ in isCancelled.store(true, ordering: .relaxed) }
        signal(SIGTERM) { _ in isCancelled.store(true, ordering: .relaxed) }
        let meter = ProgressMeter(isQuiet: quiet)
        do {
            try session.run(isCancelled: { isCancelled.load(ordering: .relaxed) }, onProgress: meter.show)
            meter.end()
        } catch ExportError.cancelled {
            meter.end()
            throw CommandFailure(.cancelled, "\(ExportError.cancelled)")
        } catch {
            meter.end()
            throw CommandFailure(.internalFailure, "\(error)")
        }
    }
}

/// Set by the handler of a signal.
private let isCancelled = Atomic(false)

/// Shows on a terminal how far an export is and how long the pass will take.
private final class ProgressMeter {
    private let isShown: Bool
    private var pass = 0
    private var began = ContinuousClock.now
    private var lastShown: ContinuousClock.Instant?

    init(isQuiet: Bool) {
        isShown = !isQuiet && isatty(STDERR_FILENO) == 1
    }

    func show(_ progress: ExportProgress) {
        guard isShown else { return }
        let now = ContinuousClock.now
        if progress.pass != pass {
            pass = progress.pass
            began = now
        }
        guard lastShown.map({ now - $0 > .milliseconds(250) }) ?? true else { return }
        lastShown = now
        let elapsed = Double((now - began).components.seconds)
        let left = Int(elapsed / max(progress.fraction, 1e-3) * (1 - progress.fraction))
        let size = progress.estimatedOutputSize.map { ", \($0.bytes / 1000) kB" } ?? ""
        write("\r\u{1B}[Kpass \(pass): \(Int(progress.fraction * 100)) %, \(left) s left\(size)")
    }

    func end() {
        if isShown { write("\r\u{1B}[K") }
    }

    private func write(_ text: String) { StandardStreams.writeError(text) }
}
