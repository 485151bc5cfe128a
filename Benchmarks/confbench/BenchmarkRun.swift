import ArgumentParser
import ConferenceClient

/// How the measurements end.
enum BenchmarkRun {
    /// Runs `body`; what goes wrong is said on standard error and becomes the exit code.
    static func run(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as ClientError {
            Progress.say(error.description)
            throw ExitCode(error.exitCode)
        } catch let error as ValidationError {
            throw error
        } catch {
            Progress.say("\(error)")
            throw ExitCode(70)
        }
    }
}
