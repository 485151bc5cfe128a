import CSpawn
import Glibc
import Synchronization

/// A program that runs as a process of its own, in a process group of its own and with no open file but those given.
///
/// The kernel is asked whether it has ended. Foundation's `Process` waits to be told by a socket, and among several
/// that are started at the same time one now and then is told when another ends.
public final class SpawnedProcess: Sendable {
    public enum Ending: Hashable, Sendable {
        /// It ended by itself, with this code.
        case exit(Int32)
        /// A signal ended it.
        case signal(Int32)
    }

    /// A program that could not be started.
    public struct SpawnError: Error, CustomStringConvertible {
        public var path: String
        /// The error number of `posix_spawn`, as in `errno`.
        public var code: Int32

        public var description: String { "\(path) cannot be started: \(String(cString: strerror(code)))" }
    }

    /// It is its process group's, too.
    public let identifier: Int32
    private let ended = Mutex<Ending?>(nil)

    /// Starts a program. Its standard input is empty.
    ///
    /// - Parameters:
    ///   - path: The program's file.
    ///   - environment: `NAME=value` each; nil for our own.
    ///   - folder: The program's working directory; nil for our own.
    ///   - output: The descriptor of its standard output; nil to discard the output.
    ///   - errors: The descriptor of its standard error.
    public init(
        _ path: String, _ arguments: [String], environment: [String]? = nil, in folder: String? = nil, output: Int32?,
        errors: Int32?
    ) throws(SpawnError) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        for (descriptor, source) in [(Int32(1), output), (Int32(2), errors)] {
            if let source {
                posix_spawn_file_actions_adddup2(&actions, source, descriptor)
            } else {
                posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0)
            }
        }
        _ = spawn_close_from(&actions, 3)
        if let folder { _ = spawn_change_folder(&actions, folder) }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Threads of the concurrency pool block signals, which a child would inherit.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        // A child would inherit as well that its parent ignores these.
        var ending = sigset_t()
        sigemptyset(&ending)
        sigaddset(&ending, SIGINT)
        sigaddset(&ending, SIGTERM)
        posix_spawnattr_setsigdefault(&attributes, &ending)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))

        let words = ([path] + arguments).map { strdup($0) } + [nil]
        let variables = environment.map { $0.map { strdup($0) } + [nil] }
        defer { for word in words + (variables ?? []) { free(word) } }
        var identifier = pid_t()
        let code =
            if let variables {
                posix_spawn(&identifier, path, &actions, &attributes, words, variables)
            } else {
                posix_spawn(&identifier, path, &actions, &attributes, words, environ)
            }
        guard code == 0 else { throw SpawnError(path: path, code: code) }
        self.identifier = identifier
    }

    public var isRunning: Bool { ending == nil }

    /// The program's exit status or signal; nil while it runs.
    public var ending: Ending? {
        ended.withLock { ended in
            var status: Int32 = 0
            if ended == nil, waitpid(identifier, &status, WNOHANG) == identifier { ended = Self.ending(status) }
            return ended
        }
    }

    /// Waits for its end, and keeps the thread waiting.
    @discardableResult
    public func wait() -> Ending {
        while true {
            if let ending { return ending }
            // Leaves the reaping to `ending`, which others may ask for meanwhile.
            var information = siginfo_t()
            _ = waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT)
        }
    }

    /// Sends it a signal, unless it has ended: the number may be another's by then.
    public func signal(_ number: Int32) {
        ended.withLock { ended in
            if ended == nil { _ = kill(identifier, number) }
        }
    }

    /// Asks it to end. A stopped program goes on for that: it would not notice.
    public func requestEnd() {
        signal(SIGCONT)
        signal(SIGTERM)
    }

    private static func ending(_ status: Int32) -> Ending {
        let signal = status & 0x7F
        return signal == 0 ? .exit(status >> 8 & 0xFF) : .signal(signal)
    }
}
