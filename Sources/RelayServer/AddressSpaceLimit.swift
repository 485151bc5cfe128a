import Glibc

/// The address space that this process may have. Where it is short, threads cannot be made: Dispatch then waits for
/// ever, and other libraries end the process.
enum AddressSpaceLimit {
    /// What the program and its libraries take, with room for calls.
    private static let base = 1536 << 20
    /// A thread's stack and heap.
    private static let perThread = 128 << 20

    /// The limit of this process.
    static var current: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0 else { return .max }
        return Int(clamping: limit.rlim_cur)
    }

    /// Checks that a limit is enough for so many threads of media.
    static func check(_ limit: Int, workers: Int) throws(StartupError) {
        let needed = base + min(max(workers, 0), 1024) * perThread
        guard limit >= needed else { throw .tooLittleAddressSpace(limit: limit, needed: needed) }
    }
}
