import Compositing
import MediaCore
import Testing

@testable import Conference

/// The rate that a sender is asked for, by how its receivers show it.
@Suite struct UplinkPriceTests {
    private let large = VideoDimensions(width: 1280, height: 720)
    private let half = VideoDimensions(width: 640, height: 360)
    private let small = VideoDimensions(width: 320, height: 180)
    private let nothing = VideoDimensions(width: 0, height: 0)

    private func at(_ seconds: Double) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: Int64(seconds * 1e9))
    }

    private func price(
        tile: VideoDimensions, size: VideoDimensions? = nil, frameRate: Int = 30, shown: BitRate = .zero
    ) -> BitRate {
        UplinkPrice.rate(
            of: UplinkPrice.Source(tile: tile, size: size, frameRate: frameRate, content: .camera), shown: shown)
    }

    @Test("a rate falls with the tile, more slowly than its area, and never to nothing")
    func rates() {
        func rate(_ size: VideoDimensions, _ content: SourceContent = .camera, at frameRate: Int = 30) -> Double {
            Double(UplinkPrice.rate(ofTile: size, frameRate: frameRate, content: content).bitsPerSecond)
        }
        #expect((1_700_000...2_200_000).contains(rate(large)))
        #expect((600_000...800_000).contains(rate(half)))
        #expect((200_000...300_000).contains(rate(small)))
        #expect(rate(half) / rate(large) > 0.25 && rate(half) / rate(large) < 0.5)
        #expect(rate(half, at: 15) == rate(half) / 2)
        #expect(rate(half, .screenShare) == 2 * rate(half))
        #expect(rate(VideoDimensions(width: 32, height: 18)) == 120_000)
        // Sizes and frame rates out of this world make no trouble.
        let huge = VideoDimensions(width: 1 << 16, height: 1 << 16)
        #expect(rate(huge, at: .max) > rate(large))
        #expect(rate(small, at: .min) == 120_000)
        #expect(UplinkPrice(rate: price(tile: half)).bound(now: at(0)) > price(tile: half))
    }

    @Test("a receiver shows a source with its tile's part of the encoder's rate")
    func shownRate() {
        func shown(_ share: Double, qp: Double? = 30, mayForward: Bool = false) -> BitRate {
            UplinkPrice.shownRate(
                UplinkPrice.View(share: share, rate: .megabits(2), qp: qp, mayForward: mayForward))
        }
        #expect(shown(1) == .megabits(2))
        #expect(shown(1, qp: nil) == .megabits(2))
        #expect(shown(0.25) == .kilobits(500))
        #expect(shown(1, qp: 16) == .megabits(2))
        #expect(shown(1, qp: 10) == .megabits(1), "six steps finer than anybody sees take twice the rate")
        #expect(shown(3) == .megabits(2))
        #expect(shown(-1) == .zero)
        // The bound has to stay below the path's rate before packets are forwarded.
        let forwarded = UplinkPrice(rate: shown(1, mayForward: true)).bound(now: at(0))
        #expect(forwarded * 1.2 <= .megabits(2) && forwarded * 1.3 > .megabits(2))
    }

    @Test("a price is no less than the tile's, no less than keeps the resolution, and no more than makes a difference")
    func price() {
        #expect(price(tile: half) == UplinkPrice.rate(ofTile: half, frameRate: 30, content: .camera))
        #expect(price(tile: half, shown: .megabits(1.8)) == .megabits(1.8))
        #expect(price(tile: half, shown: .megabits(90)) < .megabits(3))
        // Five pictures a second of 1280x720 take little, but a sender that is given little sends another size.
        #expect(price(tile: large, frameRate: 5) == .kilobits(500))
        #expect(price(tile: large, size: half, frameRate: 1) == .kilobits(300))
        #expect(price(tile: half, frameRate: 5) == .kilobits(300))
        #expect(price(tile: small, size: half, frameRate: 5) == .kilobits(120), "the tile needs no more samples")
    }

    @Test("a source that nobody sees is asked for a rate that keeps its size")
    func unseen() {
        #expect(price(tile: nothing) == .kilobits(300))
        #expect(price(tile: nothing, size: large, shown: .megabits(2)) == .kilobits(500))
        #expect(price(tile: nothing, size: half) == .kilobits(300))
        #expect(price(tile: nothing, size: small) == .kilobits(120))
    }

    @Test("a higher price counts at once, a lower one after a while, and a little difference never")
    func hysteresis() {
        var price = UplinkPrice(rate: .megabits(1))
        var hasChanged = price.observe(.megabits(1.1), now: at(0)) || price.observe(.megabits(0.9), now: at(1))
        #expect(!hasChanged)
        hasChanged = price.observe(.megabits(1.5), now: at(2))
        #expect(hasChanged && price.rate == .megabits(1.5))
        hasChanged = price.observe(.kilobits(600), now: at(3)) || price.observe(.kilobits(800), now: at(5.9))
        #expect(!hasChanged)
        hasChanged = price.observe(.kilobits(600), now: at(6))
        #expect(hasChanged && price.rate == .kilobits(800), "the highest of the lower ones")
    }

    @Test("a rate that goes up and down every second moves no bound")
    func noFlapping() {
        var price = UplinkPrice(rate: .megabits(1.5))
        for second in 0..<60 {
            let hasChanged = price.observe(.megabits(second.isMultiple(of: 2) ? 0.7 : 1.6), now: at(Double(second)))
            #expect(!hasChanged)
        }
        #expect(price.bound(now: at(60)) == UplinkPrice(rate: .megabits(1.5)).bound(now: at(0)))
    }

    @Test("the bound has room for a probe for a while after the source became larger")
    func probing() {
        var price = UplinkPrice(rate: .kilobits(300))
        var hasChanged = price.tileChanged(isLarger: true, rate: .megabits(1), now: at(10))
        #expect(hasChanged)
        #expect(price.bound(now: at(10)) == .megabits(2) && price.bound(now: at(12.9)) == .megabits(2))
        #expect(price.bound(now: at(13)) == .megabits(1.3))
        hasChanged = price.tileChanged(isLarger: false, rate: .kilobits(300), now: at(20))
        #expect(hasChanged)
        #expect(price.bound(now: at(20)) == .kilobits(390))
    }

    @Test("the rates requested for many tiles grow in total only by the least rate")
    func manyTiles() {
        func sum(_ count: Int, tile: VideoDimensions) -> Double {
            let shown = UplinkPrice.shownRate(UplinkPrice.View(share: 1 / Double(count), rate: .megabits(2.5)))
            return price(tile: tile, size: half, shown: shown).kilobitsPerSecond * Double(count)
        }
        #expect(sum(1, tile: large) == 2500)
        #expect(sum(4, tile: half) < 2800)
        #expect(sum(60, tile: VideoDimensions(width: 160, height: 90)) == 60 * 120)
    }
}
