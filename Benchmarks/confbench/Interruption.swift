import ChildProcesses
import Dispatch
import Glibc
import Synchronization

/// Ends the started programs when a signal ends this one. They have process groups of their own, which Ctrl-C in a
/// terminal does not reach.
enum Interruption {
    /// The programs by their process identifiers.
    private static let programs = Mutex<[Int32: SpawnedProcess]>([:])
    /// A source that nothing holds hears no signal.
    @MainActor private static var sources: [any DispatchSourceSignal] = []

    static func add(_ program: SpawnedProcess) { programs.withLock { $0[program.identifier] = program } }

    static func remove(_ program: SpawnedProcess) { programs.withLock { $0[program.identifier] = nil } }

    /// From now on SIGINT and SIGTERM end all programs and this one, with the exit code of the signal.
    @MainActor
    static func endProgramsWithThisOne() {
        sources = [SIGINT, SIGTERM].map { number in
            // The default action would come first.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { @Sendable in
                programs.withLock { for program in $0.values { program.requestEnd() } }
                exit(128 + number)
            }
            source.resume()
            return source
        }
    }
}
