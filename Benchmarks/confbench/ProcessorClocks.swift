import Foundation

/// The processor time of the calling thread.
enum ThreadClock {
    static func now() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Duration(time)
    }
}

/// The processor time of all threads of this process.
enum AllThreadsClock {
    static func now() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Duration(time)
    }
}

/// The processor time of another process, user and system, all of its threads, ended ones included.
struct ProcessClock {
    private let clock: clockid_t
    private let identifier: Int32

    init(process identifier: Int32) throws {
        var clock = clockid_t()
        let code = clock_getcpuclockid(identifier, &clock)
        guard code == 0 else {
            throw BenchmarkError.system(
                reason: "process \(identifier) has no clock (\(String(cString: strerror(code))))")
        }
        self.clock = clock
        self.identifier = identifier
    }

    func now() throws -> Duration {
        var time = timespec()
        guard clock_gettime(clock, &time) == 0 else {
            throw BenchmarkError.system(reason: "the clock of process \(identifier) stopped: the process has ended")
        }
        return Duration(time)
    }

    /// The processor time of each thread that lives, by name. Threads of one name are added up.
    func threads() -> [String: Duration] {
        let directory = "/proc/\(identifier)/task"
        var times: [String: Duration] = [:]
        for thread in (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [] {
            // A thread may end between the listing and the reading.
            guard let name = try? String(contentsOfFile: "\(directory)/\(thread)/comm", encoding: .utf8),
                let statistics = try? String(contentsOfFile: "\(directory)/\(thread)/schedstat", encoding: .utf8),
                let nanoseconds = statistics.split(separator: " ").first.flatMap({ Int64($0) })
            else { continue }
            let trimmed = name.trimmingCharacters(in: .whitespacesAndNewlines)
            times[trimmed, default: .zero] += .nanoseconds(nanoseconds)
        }
        return times
    }
}

extension Duration {
    fileprivate init(_ time: timespec) {
        self = .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}
