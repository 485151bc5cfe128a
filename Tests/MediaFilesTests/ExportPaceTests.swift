import MediaCore
import Testing

@testable import MediaFiles

@Suite("The remaining time of an export") struct ExportPaceTests {
    @Test("is that of an even pace")
    func even() {
        var pace = ExportPace()
        #expect(pace.remaining(pass: 1, fraction: 0, at: .zero) == nil)
        for second in 1...40 {
            let remaining = pace.remaining(pass: 1, fraction: Double(second) / 100, at: .seconds(second))
            #expect(abs((remaining?.seconds ?? 0) - Double(100 - second)) < 0.5)
        }
    }

    @Test("follows a pace that changes, within half a minute")
    func changing() {
        var pace = ExportPace()
        for second in 0...100 { _ = pace.remaining(pass: 1, fraction: Double(second) / 1000, at: .seconds(second)) }
        var remaining: Duration?
        for second in 1...30 {
            remaining = pace.remaining(pass: 1, fraction: 0.1 + Double(second) / 100, at: .seconds(100 + second))
        }
        #expect(abs((remaining?.seconds ?? 0) - 60) < 1)
    }

    @Test("begins anew with each pass")
    func passes() {
        var pace = ExportPace()
        for second in 0...10 { _ = pace.remaining(pass: 1, fraction: Double(second) / 10, at: .seconds(second)) }
        #expect(pace.remaining(pass: 2, fraction: 0, at: .seconds(11)) == nil)
        #expect(pace.remaining(pass: 2, fraction: 0, at: .seconds(12)) == nil)
    }
}
