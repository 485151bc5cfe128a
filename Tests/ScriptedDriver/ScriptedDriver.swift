public import Foundation
import Glibc

/// A copy of the VA driver for tests in a folder of its own, with a script of its settings and faults and a log of its
/// calls. Each copy is a library of its own to the loader, so tests that run side by side share nothing.
public final class ScriptedDriver: Sendable {
    public let folder: URL

    /// The library's name, as libva has it: `NAME_drv_video.so`.
    public static let name = "confrelay_test"

    /// The frames of tests that look for leaks: a million with `CONFRELAY_LONG_TESTS`.
    public static var manyFrames: Int {
        ProcessInfo.processInfo.environment["CONFRELAY_LONG_TESTS"] == nil ? 6_000 : 1_000_000
    }

    /// - Parameters:
    ///   - script: See `Tests/VADriver/script.c`.
    ///   - logs: Whether there is a log.
    /// - Throws: Where the library is not beside the tests, or the folder cannot be written.
    public init(script: String = "", logs: Bool = true) throws {
        // libva reads the variable for each display; it is set once for all threads.
        _ = Self.setSearchPath
        let files = FileManager.default
        guard let library = Self.library else { throw CocoaError(.fileNoSuchFile) }
        folder = files.temporaryDirectory.appendingPathComponent("va-\(UUID().uuidString)")
        try files.createDirectory(at: folder, withIntermediateDirectories: true)
        try files.copyItem(at: library, to: folder.appendingPathComponent("\(Self.name)_drv_video.so"))
        try Data(script.utf8).write(to: folder.appendingPathComponent("va-script.txt"))
        if logs { try Data().write(to: folder.appendingPathComponent("va-log.txt")) }
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    /// Its name for `VAAPIDevice.driver`, in this process.
    public var deviceName: String { folder.appendingPathComponent(Self.name).path }

    /// The lines of the log: the number of the display and of its call, then what was called or found out.
    public var log: [String] {
        let text = try? String(contentsOf: folder.appendingPathComponent("va-log.txt"), encoding: .utf8)
        return text?.split(separator: "\n").map(String.init) ?? []
    }

    /// The lines that begin with `word` behind their number.
    public func lines(_ word: String) -> [String] {
        log.filter { $0.split(separator: " ", maxSplits: 2).dropFirst().first.map { $0 == word } ?? false }
    }

    private static let setSearchPath: Void = { setenv("LIBVA_DRIVERS_PATH", "/", 1) }()

    private static let library: URL? = {
        let folders =
            [URL(fileURLWithPath: CommandLine.arguments[0])] + Bundle.allBundles.map(\.bundleURL)
        return folders.map {
            $0.deletingLastPathComponent().appendingPathComponent("libconfrelay_test_drv_video.so")
        }.first { FileManager.default.fileExists(atPath: $0.path) }
    }()
}
