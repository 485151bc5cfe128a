import MediaCore
import Testing

@testable import CongestionControl

@Suite("Allocation")
struct BitrateAllocatorTests {
    private func makeAllocator() -> BitrateAllocator {
        BitrateAllocator(
            configuration: .init(
                audio: .kilobits(24)...BitRate.kilobits(64), video: .kilobits(100)...BitRate.megabits(4)))
    }

    @Test("the parts with their headers add up to the target")
    func sum() {
        var allocator = makeAllocator()
        let allocation = allocator.allocate(target: .megabits(1))
        #expect(allocation.audio == .kilobits(64))
        let audioHeaders = 38.0 * 8 * 50 / 1000
        let video = (1000 - 64 - audioHeaders) * 1100 / 1138
        #expect(abs(allocation.video.kilobitsPerSecond - video) < 0.01)
    }

    @Test("audio keeps its minimum, and video its own, when there is not enough for both")
    func minima() {
        var allocator = makeAllocator()
        let allocation = allocator.allocate(target: .kilobits(50))
        #expect(allocation.audio == .kilobits(24))
        #expect(allocation.video == .kilobits(100))
    }

    @Test("losses keep room for retransmissions, up to a bound")
    func retransmission() {
        var allocator = makeAllocator()
        let without = allocator.allocate(target: .megabits(1))
        let with = allocator.allocate(target: .megabits(1), fractionLost: 0.1)
        #expect(abs(with.video / without.video - 0.9) < 0.001)
        let heavy = allocator.allocate(target: .megabits(1), fractionLost: 0.9)
        #expect(abs(heavy.video / without.video - 0.7) < 0.001)
    }

    @Test("video moves only when it changes by more than 3 %, measured from where it is")
    func hysteresis() {
        var allocator = makeAllocator()
        let first = allocator.allocate(target: .megabits(1))
        #expect(first.isChanged)
        let second = allocator.allocate(target: .kilobits(1020))
        #expect(!second.isChanged)
        #expect(second.video == first.video)
        let third = allocator.allocate(target: .kilobits(1040))
        #expect(third.isChanged)
        #expect(third.video > first.video)
    }

    @Test("small steps reach the maximum")
    func maximum() {
        var allocator = makeAllocator()
        _ = allocator.allocate(target: .kilobits(4150))
        #expect(allocator.allocate(target: .megabits(10)).video == .megabits(4))
    }

    @Test("audio or video alone get what there is")
    func single() {
        var audioOnly = BitrateAllocator(
            configuration: .init(audio: .kilobits(24)...BitRate.kilobits(64), video: nil))
        #expect(audioOnly.allocate(target: .megabits(1)).video == .zero)
        #expect(audioOnly.allocate(target: .kilobits(70)).audio == .kilobits(70) - audioOnly.audioOverhead)
        #expect(audioOnly.allocate(target: .kilobits(140), audioRepetitions: 1).audio > .kilobits(60))
        #expect(audioOnly.allocate(target: .kilobits(10)).audio == .kilobits(24))
        var videoOnly = BitrateAllocator(
            configuration: .init(audio: nil, video: .kilobits(100)...BitRate.megabits(4)))
        #expect(videoOnly.allocate(target: .megabits(1)).video > .kilobits(960))
    }
}
