import ArgumentParser
import Foundation
import MediaCore
import MediaFiles
import RelayServer
import RoomAPI
import RoomMedia
import Synchronization

/// Makes a film of a recording.
struct ArchiveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "confrelay archive", abstract: "Make a film of a recording.",
        discussion: """
            Plays the recording's timeline and tracks, composes them with the room's layout or another, and encodes \
            them in several passes. Give the bitrate of the video, the size of the file, or a quality. The sound gets \
            the loudness of EBU R 128, -23 LUFS. Beside film.mp4 there will be film.vtt, which says who joins and \
            speaks, and film.png, a picture for lists.

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
    var canvas = FilmOptions.defaultCanvas

    @Option(help: ArgumentHelp("Pictures a second, 1 to 60.", valueName: "fps"))
    var frameRate = FilmOptions.defaultFrameRate

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

    private var request: ExportRequest {
        ExportRequest(
            layout: layout, canvas: "\(canvas)", frameRate: frameRate,
            bitrate: bitrate.map { Int(clamping: $0.bitsPerSecond) },
            size: size?.bytes, quality: quality)
    }

    private func options() throws -> FilmOptions {
        do throws(FilmOptionError) {
            return try FilmOptions(request)
        } catch {
            let name = error.option == "frameRate" ? "frame-rate" : error.option
            throw ValidationError("--\(name) \(error.value) is not possible: \(error.advice)")
        }
    }

    func validate() throws {
        let suffix = URL(fileURLWithPath: output).pathExtension
        // The captions and the poster differ from the film by the ending alone. With theirs it would replace one.
        guard suffix.isEmpty || suffix.lowercased() == "mp4" else {
            throw ValidationError("-o writes MP4 only: '\(output)' must end in .mp4")
        }
        _ = try options()
    }

    func run() throws {
        let options = try options()
        let film: RecordingFilm
        do {
            film = try RecordingFilm(
                path: folder, canvas: options.canvas, frameRate: options.frameRate, layout: options.layout)
        } catch {
            throw CommandFailure(.noInput, "\(error)")
        }
        let session = ExportSession(source: film, settings: options.settings, path: output)
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
    private var lastShown: ContinuousClock.Instant?

    init(isQuiet: Bool) {
        isShown = !isQuiet && isatty(STDERR_FILENO) == 1
    }

    func show(_ progress: ExportProgress) {
        guard isShown else { return }
        let now = ContinuousClock.now
        guard lastShown.map({ now - $0 > .milliseconds(250) }) ?? true else { return }
        lastShown = now
        let stage = progress.pass == 0 ? "audio" : "pass \(progress.pass)"
        let left = progress.remaining.map { ", \(Int(clamping: $0.seconds.rounded(.up))) s left" } ?? ""
        let size = progress.estimatedOutputSize.map { ", \($0.bytes / 1000) kB" } ?? ""
        write("\r\u{1B}[K\(stage): \(Int(progress.fraction * 100)) %\(left)\(size)")
    }

    func end() {
        if isShown { write("\r\u{1B}[K") }
    }

    private func write(_ text: String) { StandardStreams.writeError(text) }
}
