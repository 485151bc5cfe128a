import Foundation

/// The number of files and sockets that this process may have open at once. Dispatch ends a process that has used up
/// all of them, so clients must not be able to.
enum OpenFileLimit {
    /// Files and sockets beside the connections that are served: connections that are answered or closed at once,
    /// those of operators, recordings, players and logs.
    static let others = 384
    /// The most that the largest configuration needs.
    private static let highest = 65_536

    /// Raises the limit as far as this user may.
    ///
    /// - Returns: The limit from now on.
    static func raise() -> Int {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return .max }
        var raised = limit
        raised.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, rlim_t(highest)))
        return Int(clamping: setrlimit(resource, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur)
    }

    /// Checks that a limit allows so many connections.
    static func check(_ limit: Int, allows connections: Int) throws(StartupError) {
        guard connections <= limit - others else {
            throw .tooFewOpenFiles(limit: limit, needed: connections + others)
        }
    }
}
