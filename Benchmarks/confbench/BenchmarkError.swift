/// The reason that nothing could be measured.
enum BenchmarkError: Error, CustomStringConvertible {
    /// A program that the benchmark runs could not be started.
    case programNotStarted(path: String, reason: String)
    /// A program ended, or did not do its part in time.
    case programFailed(name: String, reason: String)
    /// A codec failed.
    case codecFailed(reason: String)
    /// The operating system refused a request.
    case system(reason: String)

    var description: String {
        switch self {
        case .programNotStarted(let path, let reason):
            "\(path) cannot be started (\(reason)); build the programs: make build"
        case .programFailed(let name, let reason): "\(name): \(reason)"
        case .codecFailed(let reason): "a codec failed: \(reason)"
        case .system(let reason): reason
        }
    }
}
