import LoadControl
import MediaCore
import Testing

@testable import RelayServer

@Suite("Exports of a busy relay")
struct ExportLoadTests {
    @Test("wait above seven tenths of the workers' time or any measure of overload, until it is below the half")
    func load() {
        var load = ExportLoad()
        var busy = Duration.zero
        func after(_ share: Double, level: OverloadLevel = .normal, second: Int) -> Bool {
            busy += .seconds(clamping: share * 4)
            load.update(busyTime: busy, workerCount: 4, level: level, now: .zero + .seconds(second))
            return load.isHigh
        }
        #expect(!after(1, second: 0))
        #expect(!after(0.6, second: 1))
        #expect(after(0.8, second: 2))
        #expect(after(0.6, second: 3))
        #expect(!after(0.4, second: 4))
        #expect(after(0.1, level: .fewerPersonalViews, second: 5))
        #expect(!after(0.1, second: 6))
    }
}
