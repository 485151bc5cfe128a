import ChildProcesses
import Foundation
import Glibc
import Testing

/// A program that a test started, in a process group of its own, with its output in files. When the test lets go of it,
/// all of its group that still runs is killed.
final class ChildProcess: Sendable {
    let name: String
    private let process: SpawnedProcess
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
        let (output, errors) = (try Self.create(outputFile), try Self.create(errorFile))
        process = try SpawnedProcess(
            executable.path, arguments,
            environment: ProcessInfo.processInfo.environment.merging(environment) { $1 }.map { "\($0)=\($1)" },
            in: folder.url.path, output: output.fileDescriptor, errors: errors.fileDescriptor)
        withExtendedLifetime((output, errors)) {}
    }

    deinit {
        process.signal(SIGKILL)
        // The group outlives its leader as long as the leader's children run.
        kill(-process.identifier, SIGKILL)
    }

    var isRunning: Bool { process.isRunning }

    /// Its output so far.
    var output: String { Self.text(of: outputFile) }
    var errors: String { Self.text(of: errorFile) }

    func signal(_ number: Int32) { process.signal(number) }

    /// Waits for its end.
    ///
    /// - Returns: The exit code; that of the signal, negative, when one ended it.
    func end(within limit: Duration) async throws -> Int32 {
        switch try await eventually("\(name) ends; it wrote: \(errors)", within: limit, { process.ending }) {
        case .exit(let code): code
        case .signal(let number): -number
        }
    }

    private static func create(_ file: URL) throws -> FileHandle {
        try Data().write(to: file)
        return try FileHandle(forWritingTo: file)
    }

    private static func text(of file: URL) -> String {
        (try? Data(contentsOf: file)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}
