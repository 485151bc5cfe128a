import ChildProcesses
import Dispatch
import Foundation
import Glibc
import Synchronization

/// Ends the started programs when a signal ends this one. They have process groups of their own, which Ctrl-C in a
/// terminal does not reach.
enum Interruption {
    private static let programs = Mutex<[Int32: SpawnedProcess]>([:])

    static func add(_ program: SpawnedProcess) { programs.withLock { $0[program.identifier] = program } }

    static func remove(_ program: SpawnedProcess) { programs.withLock { $0[program.identifier] = nil } }

    /// From now on SIGINT and SIGTERM end all programs and this one, with the exit code of the signal.
    static func endProgramsWithThisOne() {
        for number in [SIGINT, SIGTERM] {
            // The default action would come first.
            Glibc.signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                programs.withLock { programs in
                    for program in programs.values {
                        // A paused program does not notice that it should end.
                        program.signal(SIGCONT)
                        program.signal(SIGTERM)
                    }
                }
                exit(128 + number)
            }
            source.resume()
            sources.withLock { $0.append(source) }
        }
    }

    private static let sources = Mutex<[any DispatchSourceSignal]>([])
}
