import MediaCore
import Testing

@testable import RelayServer

@Suite("The pace of the driver's turns")
struct TurnPaceTests {
    private var pace = TurnPace()
    private let start = MonotonicInstant(nanoseconds: 5_000_000_000)

    private mutating func turn(at milliseconds: Double, datagrams: Int, isFull: Bool = false) {
        pace.noteTurn(datagramCount: datagrams, isFull: isFull, now: start + .seconds(milliseconds / 1000))
    }

    private func instant(_ milliseconds: Double) -> MonotonicInstant { start + .seconds(milliseconds / 1000) }

    @Test("datagrams that come apart are read when they come")
    mutating func quiet() {
        for index in 0..<20 {
            turn(at: Double(index) * 1.5, datagrams: 1)
            #expect(!pace.isBusy)
            #expect(pace.nextTurn == nil)
        }
    }

    @Test("datagrams that follow each other are read once per interval")
    mutating func busy() {
        turn(at: 0, datagrams: 1)
        turn(at: 0.5, datagrams: 1)
        #expect(pace.isBusy)
        #expect(pace.nextTurn == instant(1.5))
        turn(at: 1.5, datagrams: 7)
        #expect(pace.nextTurn == instant(2.5))
    }

    @Test("a turn without datagrams, an interval after the last ones, ends it")
    mutating func silence() {
        turn(at: 0, datagrams: 1)
        turn(at: 0.5, datagrams: 1)
        turn(at: 0.8, datagrams: 0)
        #expect(pace.isBusy)
        #expect(pace.nextTurn == instant(1.8))
        turn(at: 1.8, datagrams: 0)
        #expect(!pace.isBusy)
        #expect(pace.nextTurn == nil)
    }

    @Test("results without datagrams do not make the socket busy")
    mutating func resultsOnly() {
        for index in 0..<20 {
            turn(at: Double(index) * 0.1, datagrams: 0)
            #expect(!pace.isBusy)
        }
    }

    @Test("a socket that holds more than a turn takes has the next turn at once")
    mutating func flood() {
        turn(at: 0, datagrams: 256, isFull: true)
        #expect(pace.isBusy)
        #expect(pace.nextTurn == instant(0))
        turn(at: 0.2, datagrams: 9)
        #expect(pace.nextTurn == instant(1.2))
    }
}
