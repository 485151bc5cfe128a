import Foundation

/// One of the package's programs, run as a process of its own. It is ended at the latest when this goes away.
final class ChildProgram {
    let name: String
    private let process = Process()
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
        process.executableURL = executable
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        do {
            try process.run()
        } catch {
            throw BenchmarkError.programNotStarted(path: executable.path, reason: error.localizedDescription)
        }
    }

    deinit {
        if process.isRunning { process.terminate() }
    }

    var identifier: Int32 { process.processIdentifier }

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
        guard process.isRunning else {
            throw BenchmarkError.programFailed(name: name, reason: "it ended with \(process.terminationStatus)")
        }
    }

    /// Waits until the program has ended by itself; throws when it did so with an error.
    func waitForSuccess() throws {
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw BenchmarkError.programFailed(name: name, reason: "it ended with \(process.terminationStatus)")
        }
    }

    /// Makes the program stand still until `resume`.
    func pause() { _ = kill(identifier, SIGSTOP) }

    func resume() { _ = kill(identifier, SIGCONT) }

    /// Asks the program to end and waits until it has; one that does not within three seconds is made to.
    func end() {
        guard process.isRunning else { return }
        resume()
        process.terminate()
        let limit = ContinuousClock.now + .seconds(3)
        while process.isRunning, ContinuousClock.now < limit { usleep(10_000) }
        if process.isRunning { _ = kill(identifier, SIGKILL) }
        process.waitUntilExit()
    }
}
