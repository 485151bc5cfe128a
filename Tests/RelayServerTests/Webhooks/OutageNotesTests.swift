import MediaCore
import Testing

@testable import RelayServer

/// What the log tells of failures.
@Suite struct OutageNotesTests {
    private enum Event {
        case failure(at: Double)
        case success
    }

    /// Whether the log tells of each event.
    private func told(_ events: [Event]) -> [Bool] {
        var notes = OutageNotes()
        return events.map { event in
            switch event {
            case .failure(let seconds): notes.failed(now: .zero + .seconds(seconds))
            case .success: notes.succeeded()
            }
        }
    }

    @Test("an outage is told once, and so is its end")
    func once() {
        let events: [Event] = [.success, .failure(at: 5), .failure(at: 6), .failure(at: 600), .success, .success]
        #expect(told(events) == [false, true, false, false, true, false])
    }

    @Test("of an outage that begins soon after another the log tells once it has lasted, and of a short one never")
    func soonAfter() {
        let events: [Event] = [
            .failure(at: 0), .success, .failure(at: 10), .success, .failure(at: 20), .failure(at: 60), .success,
        ]
        #expect(told(events) == [true, true, false, false, false, true, true])
    }
}
