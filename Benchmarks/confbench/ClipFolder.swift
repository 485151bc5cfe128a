import Foundation

/// The folder of real clips, if there is one.
enum ClipFolder {
    static let variable = "CONFRELAY_CONFORMANCE_DIR"

    /// The folder that the environment names.
    static var path: String? { ProcessInfo.processInfo.environment[variable] }

    /// Raw H.264 streams and Y4M files of a folder, by name.
    static func clips(in folder: String) -> [String] {
        let kinds = [".264", ".h264", ".jsv", ".avc", ".y4m"]
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { name in kinds.contains(where: name.hasSuffix) }.sorted().map { "\(folder)/\($0)" }
    }
}
