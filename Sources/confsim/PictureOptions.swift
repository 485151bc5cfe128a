import ArgumentParser
import Foundation
import MediaCore
import Simulation

/// The options of a simulated flow's video: modelled frame sizes or real pictures, and whether lost packets are
/// repaired.
struct PictureOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "model, or an encoder for real pictures: \(PictureCoding.Encoder.names).",
            discussion: "Received pictures are decoded and compared with their sources.", valueName: "name"))
    var encoder = Self.model

    @Option(
        help: ArgumentHelp(
            "Clip to encode (YUV4MPEG2 or a movie), repeated. Default: a test pattern.", valueName: "file"))
    var video: String?

    @Option(help: ArgumentHelp("Size of real pictures. Default: the clip's, or 640x360.", valueName: "WxH"))
    var videoSize: String?

    @Option(help: ArgumentHelp("Repair of lost packets: nack (they are sent again) or none.", valueName: "name"))
    var repair = MediaFlowParameters.Repair.nack.rawValue

    private static let model = "model"

    func validate() throws {
        if encoder == Self.model {
            guard video == nil, videoSize == nil else {
                throw ValidationError(
                    "--video and --video-size are for real pictures; add --encoder with \(PictureCoding.Encoder.names)."
                )
            }
        } else if PictureCoding.Encoder(rawValue: encoder) == nil {
            throw ValidationError(
                "There is no encoder '\(encoder)'; there are \(Self.model), \(PictureCoding.Encoder.names).")
        }
        if let videoSize, PictureCoding.dimensions(parsing: videoSize) == nil {
            throw ValidationError("--video-size is \(videoSize); expected even numbers such as 640x360.")
        }
        guard MediaFlowParameters.Repair(rawValue: repair) != nil else {
            throw ValidationError("--repair is \(repair); expected nack or none.")
        }
    }

    /// Sets a flow's parameters to the given options.
    func apply(to parameters: inout MediaFlowParameters) {
        parameters.repair = MediaFlowParameters.Repair(rawValue: repair) ?? parameters.repair
        parameters.pictures = PictureCoding.Encoder(rawValue: encoder).map {
            PictureCoding(
                encoder: $0, clip: video, dimensions: videoSize.flatMap { PictureCoding.dimensions(parsing: $0) })
        }
    }

    /// Returns the similarity of received pictures to their sources; nil if no pictures were sent.
    static func summary(_ results: [ScenarioResult]) -> String? {
        let lines = results.compactMap { result -> String? in
            guard let psnr = result.metrics[.pictureNoise], let ssim = result.metrics[.pictureSimilarity] else {
                return nil
            }
            let figures = String(format: "PSNR %.2f dB, SSIM %.4f", psnr, ssim)
            return "\(result.scenario), \(result.controller): \(figures) of the pictures received"
        }
        return lines.isEmpty ? nil : lines.joined(separator: "\n")
    }
}

extension PictureCoding.Encoder {
    fileprivate static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
