import Foundation
import Glibc
import Testing

/// A program that a test started, in a process group of its own, with its output in files. When the test lets go of it,
/// all of its group that still runs is killed.
final class ChildProcess {
    let name: String
    private let process = Process()
    private let outputFile: URL
    private let errorFile: URL

    /// - Parameter folder: The working folder; output is kept there too.
    init(
        _ executable: URL, _ arguments: [String], environment: [String: String] = [:], in folder: TemporaryFolder
    ) throws {
        name = executable.lastPathComponent
        let base = "\(name)-\(UUID().uuidString.prefix(8))"
        outputFile = folder.file("\(base).out")
        errorFile = folder.file("\(base).err")
        process.executableURL = executable
        process.arguments = arguments
        process.currentDirectoryURL = folder.url
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try Self.create(outputFile)
        process.standardError = try Self.create(errorFile)
        // A child inherits the mask of the thread that starts it, and threads of the concurrency pool block signals.
        var none = sigset_t()
        var own = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &own)
        defer { pthread_sigmask(SIG_SETMASK, &own, nil) }
        try process.run()
    }

    deinit {
        // The group outlives its leader as long as the leader's children run.
        if getpgid(process.processIdentifier) == process.processIdentifier || !process.isRunning {
            kill(-process.processIdentifier, SIGKILL)
        } else {
            kill(process.processIdentifier, SIGKILL)
        }
    }

    var isRunning: Bool { process.isRunning }

    /// What it wrote so far.
    var output: String { Self.text(of: outputFile) }
    var errors: String { Self.text(of: errorFile) }

    func signal(_ number: Int32) {
        kill(process.processIdentifier, number)
    }

    /// Waits for its end.
    ///
    /// - Returns: The exit code; that of the signal, negative, when one ended it.
    func end(within limit: Duration) async throws -> Int32 {
        try await eventually("\(name) ends; it wrote: \(errors)", within: limit) { process.isRunning ? nil : true }
        return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    }

    private static func create(_ file: URL) throws -> FileHandle {
        try Data().write(to: file)
        return try FileHandle(forWritingTo: file)
    }

    private static func text(of file: URL) -> String {
        (try? Data(contentsOf: file)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}
