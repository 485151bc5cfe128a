import ChildProcesses
import Foundation
import Testing

/// The paths of the programs that tests start.
enum Programs {
    /// A program of this package: products lie beside the test bundle that was built with them.
    static func product(_ name: String) throws -> URL {
        try #require(
            productFolders.map { $0.appendingPathComponent(name) }
                .first { FileManager.default.isExecutableFile(atPath: $0.path) },
            "the program \(name) is not beside the test bundle")
    }

    /// The search path of scripts: our products first.
    static var searchPath: String {
        let product = try? product("confclient").deletingLastPathComponent().path
        return [product, systemPath].compactMap(\.self).joined(separator: ":")
    }

    /// The full path of a program of the system; nil when it is not installed.
    static func installed(_ name: String) -> URL? {
        systemPath.split(separator: ":").map { URL(fileURLWithPath: "\($0)/\(name)") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    static func areInstalled(_ names: String...) -> Bool {
        names.allSatisfy { installed($0) != nil }
    }

    /// True if GStreamer is there, with every element that the tests' pipelines use.
    static let hasGStreamer =
        areInstalled("gst-launch-1.0")
        && ["srtpenc", "srtpdec", "rtph264pay", "rtpopuspay", "x264enc", "opusenc", "avdec_h264", "jpegenc"]
            .allSatisfy { succeeds("gst-inspect-1.0", $0) }

    /// Returns true if a program of the system is installed and ends without an error.
    static func succeeds(_ name: String, _ arguments: String...) -> Bool {
        guard let program = installed(name) else { return false }
        return (try? SpawnedProcess(program.path, arguments, output: nil, errors: nil).wait()) == .exit(0)
    }

    /// Python with aiortc, which is installed beside the build once; nil where it cannot be.
    static let pythonWithAiortc: URL? = {
        guard let python = installed("python3"), let products = productFolders.first else { return nil }
        let tools = products.deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("aiortc-tools")
        let ready = tools.appendingPathComponent("bin/python")
        func run(_ program: URL, _ arguments: String...) -> Bool {
            (try? SpawnedProcess(program.path, arguments, output: nil, errors: nil).wait()) == .exit(0)
        }
        if run(ready, "-c", "import aiortc") { return ready }
        let isInstalled =
            run(python, "-m", "venv", tools.path)
            && run(ready, "-m", "pip", "install", "--quiet", "aiortc==1.16.0") && run(ready, "-c", "import aiortc")
        return isInstalled ? ready : nil
    }()

    private static let productFolders: [URL] =
        [URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()]
        + Bundle.allBundles.map { $0.bundleURL.deletingLastPathComponent() }

    private static let systemPath = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
}
