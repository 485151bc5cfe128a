import Dispatch
import Testing

@testable import RoomMedia

@Suite("Waiting for threads")
struct DispatchGroupWaitingTests {
    @Test("any number of waits leave the threads of the global queue to others", .timeLimit(.minutes(5)))
    func manyWaits() async {
        let group = DispatchGroup()
        group.enter()
        await withTaskGroup(of: Void.self) { waits in
            for _ in 0..<2000 { waits.addTask { await group.waitUntilDone(timeout: .seconds(600)) } }
            // The queue is worked off in order: the first comes when the waits have begun, the second behind them.
            for _ in 0..<2 { await onGlobalQueue() }
            group.leave()
        }
    }

    @Test("a wait ends when its time is over, though the thread goes on")
    func timeout() async {
        let group = DispatchGroup()
        group.enter()
        await group.waitUntilDone(timeout: .milliseconds(1))
        #expect(!isDone(group))
        group.leave()
        await group.waitUntilDone(timeout: .seconds(60))
        #expect(isDone(group))
    }

    private func isDone(_ group: DispatchGroup) -> Bool { group.wait(timeout: .now()) == .success }

    private func onGlobalQueue() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            DispatchQueue.global().async { continuation.resume() }
        }
    }
}
