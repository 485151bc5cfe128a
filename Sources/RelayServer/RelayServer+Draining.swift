import Logging

/// The end of a relay after its calls.
extension RelayServer {
    /// Refuses joins and waits until all calls are over, for at most a time.
    public func drain(upTo limit: Duration) async {
        await cluster?.setDraining(true)
        let emptied = await driver.drain(isMoving: cluster != nil)
        let seconds = limit.components.seconds
        logger.notice("draining: joins are refused; the relay ends when all rooms are empty, or in \(seconds) s")
        let isEmpty = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                for await _ in emptied {}
                return !Task.isCancelled
            }
            group.addTask {
                try? await Task.sleep(for: limit)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
        logger.notice(isEmpty ? "drained: all rooms are empty" : "the time to drain is over, or was cut short")
    }
}
