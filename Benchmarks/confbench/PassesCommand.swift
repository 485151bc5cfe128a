import ArgumentParser
import Foundation
import MediaCore
import VideoCoding

/// Several passes against a single one.
struct PassesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "passes",
        abstract: "Measures what several passes of the encoder gain over a single one, on clips one after the other.",
        discussion: """
            The clips are decoded, scaled to one size and encoded by x264 in a single pass, in a single pass of the \
            same size, and in several. The table goes to standard output, progress to standard error. \
            docs/benchmarks.md explains the columns.

            Exit codes: 0 measured; 64 wrong usage; 70 a codec failed or a clip cannot be read; 74 an output file \
            cannot be written.
            """)

    @Argument(help: "Raw H.264 streams or Y4M files. Default: all clips in the folder CONFRELAY_CONFORMANCE_DIR.")
    var clips: [String] = []

    @Option(help: ArgumentHelp("Bitrates, in kbit/s.", valueName: "n,n,…"))
    var rates = BitRateList(values: [200, 400, 800].map { .kilobits($0) })

    @Option(help: ArgumentHelp("The size that the clips are scaled to.", valueName: "WxH"))
    var size = "640x360"

    @Option(help: ArgumentHelp("Frames a second.", valueName: "n"))
    var frameRate = 30

    @Option(help: ArgumentHelp("The most frames of a clip.", valueName: "n"))
    var frames = 150

    @Option(help: ArgumentHelp("fastest, balanced or quality.", valueName: "preset"))
    var preset = EncoderPreset.balanced.rawValue

    @Option(help: ArgumentHelp("Write the results as JSON as well.", valueName: "FILE"))
    var json: String?

    private var dimensions: VideoDimensions {
        get throws {
            let sides = size.split(separator: "x").compactMap { Int($0) }
            guard sides.count == 2, sides.allSatisfy({ (16...4096).contains($0) && $0.isMultiple(of: 2) }) else {
                throw ValidationError("--size is \(size); use even sides of 16 to 4096, as in 640x360")
            }
            return VideoDimensions(width: sides[0], height: sides[1])
        }
    }

    private var encoderPreset: EncoderPreset {
        get throws {
            guard let found = EncoderPreset(rawValue: preset) else {
                let known = EncoderPreset.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("--preset is \(preset); use one of \(known)")
            }
            return found
        }
    }

    private var paths: [String] {
        get throws {
            guard clips.isEmpty else { return clips }
            guard let folder = ClipFolder.path else {
                throw ValidationError("name clips, or set \(ClipFolder.variable) to a folder of them")
            }
            let found = ClipFolder.clips(in: folder)
            guard !found.isEmpty else { throw ValidationError("there are no clips in \(folder)") }
            return found
        }
    }

    func validate() throws {
        _ = (try dimensions, try encoderPreset, try paths)
        guard (1...60).contains(frameRate) else {
            throw ValidationError("--frame-rate is \(frameRate); use 1 to 60")
        }
        guard frames > 0 else { throw ValidationError("--frames is \(frames); use 1 or more") }
        guard EncoderBackEnd.x264.isBuilt else {
            throw ValidationError("several passes need x264; build with the package trait X264")
        }
    }

    func run() async throws {
        try BenchmarkRun.write(json: json, measuring: measure) { PassesResult.table($0.results) }
    }

    private func measure() throws -> PassesReport {
        let directory = try ScratchDirectory()
        defer { directory.remove() }
        let reel = try PictureReel(path: directory.path(of: "reel.i420"), dimensions: try dimensions)
        var used: [String] = []
        for path in try paths where try reel.append(contentsOf: path, atMost: frames) > 0 {
            used.append(URL(fileURLWithPath: path).lastPathComponent)
        }
        guard reel.count > 0 else { throw BenchmarkError.codecFailed(reason: "no clip could be decoded") }
        Progress.say("\(reel.count) frames of \(used.count) clips")
        var report = PassesReport(
            machine: .current(), clips: used, width: reel.dimensions.width, height: reel.dimensions.height,
            frames: reel.count, preset: preset)
        let measurement = PassesMeasurement(
            reel: reel, frameRate: frameRate, preset: try encoderPreset, directory: directory)
        for rate in rates.values {
            Progress.say("\(rate)")
            report.results += try measurement.results(at: rate)
        }
        return report
    }
}
