import Foundation

extension Thread {
    /// Runs `body` on a new thread, which `top -H` and debuggers show by `name`.
    package static func detach(named name: String, _ body: @escaping @Sendable () -> Void) {
        let isNamed = DispatchSemaphore(value: 0)
        let thread = Thread {
            isNamed.wait()
            body()
        }
        thread.start()
        // Foundation passes a name on to the system only once the thread runs, and must not once it has ended.
        thread.name = name
        isNamed.signal()
    }
}
