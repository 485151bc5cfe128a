import ArgumentParser
import Foundation
import MediaCore
import VideoCoding

/// The costs and results of each encoder.
struct EncodersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "encoders",
        abstract: "Measures quality, cost and rate control of each encoder and preset that the relay may use.",
        discussion: """
            Every encoder gets the same pictures, 1280x720 at 30 frames a second: a composed call made up on the spot, \
            and real content where there is some, which is --video, or four clips of the folder \
            \(ClipFolder.variable) composed as a call. The tables go to standard output, progress to standard error. \
            Benchmarks/results.md explains the columns.

            Exit codes: 0 measured; 64 wrong usage; 70 a codec failed or a file cannot be read; 74 an output file \
            cannot be written.
            """)

    @Option(help: ArgumentHelp("Real content: a Y4M file or a raw H.264 stream.", valueName: "FILE"))
    var video: String?

    @Option(help: ArgumentHelp("Bitrates, in kbit/s.", valueName: "n,n,…"))
    var rates = BitRateList(values: [400, 800, 1500, 2500].map { .kilobits($0) })

    @Option(help: ArgumentHelp("Frames of each content.", valueName: "n"))
    var frames = 90

    @Option(
        help: ArgumentHelp(
            "Measure a GPU, too: its render node, or driver:NAME for a VA driver that needs none.",
            valueName: "device"))
    var vaapiDevice: String?

    @Option(help: ArgumentHelp("Write the results as JSON as well.", valueName: "FILE"))
    var json: String?

    func validate() throws {
        guard vaapiDevice == nil || device != nil else {
            throw ValidationError("--vaapi-device is \(vaapiDevice ?? ""); use /dev/dri/renderD128 or driver:NAME")
        }
        guard (60...3000).contains(frames) else { throw ValidationError("--frames is \(frames); use 60 to 3000") }
    }

    private var device: VAAPIDevice? { vaapiDevice.flatMap(VAAPIDevice.init) }

    func run() async throws {
        try BenchmarkRun.write(json: json, measuring: measure, table: \.text)
    }

    private func measure() throws -> EncodersReport {
        let directory = try ScratchDirectory()
        defer { directory.remove() }
        var report = EncodersReport(
            machine: .current(), width: Workload.canvas.width, height: Workload.canvas.height, frames: frames)
        for content in try contents(in: directory) {
            var measurement = EncodersMeasurement(content: content, frames: frames)
            if let device { measurement.variants += EncoderVariant.all(of: device) }
            for rate in rates.values {
                Progress.say("\(content.name): \(measurement.variants.count) encoders at \(rate)")
                report.results += try measurement.results(at: rate)
            }
            Progress.say("\(content.name): steps of the target")
            report.steps += try measurement.stepResults()
        }
        report.ranking = EncoderRank.ranking(
            report.results, steps: report.steps, relayDefault: try EncoderVariant.relayDefault())
        return report
    }

    private func contents(in directory: ScratchDirectory) throws -> [EncoderContent] {
        Progress.say("making \(frames) pictures of a call")
        var contents = [try EncoderContent.composed(frames: frames, in: directory)]
        if let video {
            contents.append(try .file(video, frames: frames, in: directory))
        } else if let folder = ClipFolder.path {
            Progress.say("decoding clips of \(folder)")
            if let clips = try EncoderContent.clips(in: folder, frames: frames, in: directory) {
                contents.append(clips)
            } else {
                Progress.say("there are not four clips of \(frames) frames in \(folder)")
            }
        }
        return contents
    }
}

/// Rates in kbit/s with commas between them.
struct BitRateList: ExpressibleByArgument, CustomStringConvertible {
    let values: [BitRate]

    init(values: [BitRate]) {
        self.values = values
    }

    init?(argument: String) {
        let numbers = argument.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
        let rates = numbers.compactMap(\.self).filter { (10...100_000).contains($0) }
        guard !rates.isEmpty, rates.count == numbers.count else { return nil }
        values = rates.map { .kilobits($0) }
    }

    var description: String { values.map { "\(Int($0.kilobitsPerSecond))" }.joined(separator: ",") }
}
