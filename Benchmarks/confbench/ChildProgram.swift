import ChildProcesses
import Foundation

/// One of the package's programs, run as a process of its own. It is ended at the latest when this goes away.
final class ChildProgram {
    let name: String
    private let process: SpawnedProcess
    private let output = Pipe()

    /// Starts a program that lies beside this one.
    convenience init(_ name: String, arguments: [String]) throws {
        let directory = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        try self.init(path: directory.appendingPathComponent(name).path, arguments: arguments)
    }

    /// Starts any program.
    init(path: String, arguments: [String]) throws {
        let executable = URL(fileURLWithPath: path)
        name = executable.lastPathComponent
        do {
            process = try SpawnedProcess(
                executable.path, arguments, output: output.fileHandleForWriting.fileDescriptor, errors: STDERR_FILENO)
            // So that reading ends with the program.
            try output.fileHandleForWriting.close()
        } catch {
            throw BenchmarkError.programNotStarted(path: executable.path, reason: "\(error)")
        }
        Interruption.add(process)
    }

    deinit {
        process.requestEnd()
        Interruption.remove(process)
    }

    var identifier: Int32 { process.identifier }

    var isRunning: Bool { process.isRunning }

    /// The first line that the program prints.
    func firstLine() throws -> String {
        var line = Data()
        while let byte = try output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty {
            if byte.first == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        throw BenchmarkError.programFailed(name: name, reason: "it ended at once; its message is above")
    }

    /// Throws when the program has ended.
    func checkRunning() throws {
        if let ending = process.ending { throw failure(ending) }
    }

    /// Waits until the program has ended by itself; throws when it did so with an error.
    func waitForSuccess() throws {
        let ending = process.wait()
        if ending != .exit(0) { throw failure(ending) }
    }

    private func failure(_ ending: SpawnedProcess.Ending) -> BenchmarkError {
        let reason =
            switch ending {
            case .exit(let code): "it ended with \(code)"
            case .signal(let number): "signal \(number) ended it"
            }
        return .programFailed(name: name, reason: reason)
    }

    /// Makes the program stand still until `resume`.
    func pause() { process.signal(SIGSTOP) }

    func resume() { process.signal(SIGCONT) }

    /// Asks the program to end and waits until it has; one that does not within three seconds is made to.
    func end() {
        guard process.isRunning else { return }
        process.requestEnd()
        let limit = ContinuousClock.now + .seconds(3)
        while process.isRunning, ContinuousClock.now < limit { usleep(10_000) }
        process.signal(SIGKILL)
        process.wait()
    }
}
