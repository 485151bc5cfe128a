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

    let inbox: TransferInbox
    let now: @Sendable () -> MonotonicInstant
    private let thread = DispatchGroup()

    private init(now: @escaping @Sendable () -> MonotonicInstant) {
        self.now = now
        // Safe on several threads at once, and counts its calls (curl_global_init(3)).
        guard shim_curl_global_init() == CURLE_OK, let multi = curl_multi_init() else {
            preconditionFailure("libcurl cannot be used: it has no memory, or it cannot start its TLS library")
        }
        let inbox = TransferInbox(waking: multi)
        self.inbox = inbox
        thread.enter()
        nonisolated(unsafe) let owned = multi
        Thread.detachNewThread { [thread] in
            Thread.current.name = "http"
            // What the peer of a closed connection causes is an error of the write.
            var broken = sigset_t()
            sigemptyset(&broken)
            sigaddset(&broken, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &broken, nil)
            TransferLoop(multi: owned, inbox: inbox, now: now).run()
            thread.leave()
        }
    }

    /// The driver for one more client.
    static func enter() -> TransferDriver {
        shared.withLock { shared in
            let driver = shared.driver ?? TransferDriver(now: { SystemMediaClock.shared.now })
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
            thread.notify(queue: .global()) { continuation.resume() }
        }
    }
}
