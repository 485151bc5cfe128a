import CLibCURL
import Dispatch
import Foundation
import MediaCore
import Synchronization

/// The thread of transfers, which all clients share. It begins with the first of them and ends after the last.
final class TransferDriver: Sendable {
    private struct Shared {
        var driver: TransferDriver?
        var clients = 0
    }

    private static let shared = Mutex(Shared())
    private static let isLibraryReady = shim_curl_global_init() == CURLE_OK

    let inbox: TransferInbox
    let now: @Sendable () -> MonotonicInstant
    /// Done when the thread has ended.
    private let group = DispatchGroup()

    /// Nil: libcurl cannot be used.
    private init?(now: @escaping @Sendable () -> MonotonicInstant) {
        guard Self.isLibraryReady, let multi = curl_multi_init() else { return nil }
        self.now = now
        let inbox = TransferInbox(waking: multi)
        self.inbox = inbox
        group.enter()
        // Only the thread uses it from here on, and frees it; the inbox wakes it, as curl_multi_wakeup(3) permits.
        nonisolated(unsafe) let owned = multi
        let isNamed = DispatchSemaphore(value: 0)
        let thread = Thread { [group] in
            isNamed.wait()
            // What the peer of a closed connection causes is an error of the write.
            var broken = sigset_t()
            sigemptyset(&broken)
            sigaddset(&broken, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &broken, nil)
            TransferLoop(multi: owned, inbox: inbox, now: now).run()
            group.leave()
        }
        thread.start()
        // Foundation passes a name on to the system only once the thread runs.
        thread.name = "http"
        isNamed.signal()
    }

    /// The driver for one more client; nil: libcurl has no memory, or cannot start its TLS library.
    static func enter() -> TransferDriver? {
        shared.withLock { shared in
            guard let driver = shared.driver ?? TransferDriver(now: { SystemMediaClock.shared.now }) else { return nil }
            shared.driver = driver
            shared.clients += 1
            return driver
        }
    }

    /// Says that a client needs the driver no more.
    ///
    /// - Returns: Whether it was the last, so that the thread ends.
    func leave() -> Bool {
        Self.shared.withLock { shared in
            shared.clients -= 1
            guard shared.clients == 0 else { return false }
            shared.driver = nil
            inbox.stop()
            return true
        }
    }

    func waitUntilEnded() async {
        await withCheckedContinuation { continuation in
            group.notify(queue: .global()) { continuation.resume() }
        }
    }
}
