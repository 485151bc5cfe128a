import Cluster

/// Performs the requests of a `ClusterDirectory`.
protocol DirectoryEngine: Sendable {
    /// Performs a request that is no watch. Takes a few seconds at most.
    func perform(_ request: DirectoryRequest) async -> DirectoryResponse
    /// Tells the changes since a revision until the watch breaks or the task is cancelled. The last news is `ended`.
    func watch(from revision: Int64, tell: @Sendable (DirectoryNews) async -> Void) async
    /// Closes its connections.
    func close() async
}
