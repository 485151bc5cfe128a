import MediaCore
import Testing

@testable import Compositing

/// Whatever is wanted whenever: nothing on screen jumps.
@Suite("Continuity of transitions")
struct ContinuityTests {
    @Test(
        "at the start, interruption and end of a change, place, opacity and order of visible layers do not jump")
    func changes() {
        var interruptions = 0
        for seed in 0..<160 {
            var views = RandomViews(seed: UInt64(seed))
            var director = CompositionDirector(canvas: views.canvas, transitions: .standard)
            var time = MediaTime(value: Int64(seed), timescale: 90_000)
            let first = time
            director.show(views.next(), at: time)
            for _ in 0..<30 {
                time += views.interval()
                let before = director.instruction(at: time)
                director.show(views.next(), at: time)
                let after = director.instruction(at: time)
                // An instruction that was shown for no time was not seen.
                guard after.timeRange.start > first else { continue }
                if before.containsTweening { interruptions += 1 }
                expectNoJump(from: before, to: after, at: after.timeRange.start, seed)
                if after.containsTweening {
                    let end = after.timeRange.end
                    expectNoJump(from: after, to: director.instruction(at: end), at: end, seed)
                }
            }
        }
        #expect(interruptions > 1000)
    }

    private func expectNoJump(
        from before: CompositionInstruction, to after: CompositionInstruction, at time: MediaTime, _ seed: Int
    ) {
        let (old, new) = (seen(before, at: time), seen(after, at: time))
        guard
            Dictionary(grouping: old, by: { $0 }).mapValues(\.count)
                == Dictionary(grouping: new, by: { $0 }).mapValues(\.count)
        else {
            Issue.record("seed \(seed) at \(time): \(old) becomes \(new)")
            return
        }
        var places = Dictionary(grouping: new.indices) { new[$0] }.mapValues { Array($0.reversed()) }
        let order = old.compactMap { places[$0]?.popLast() }
        for (index, layer) in old.enumerated() {
            for other in 0..<index where old[other].rect.overlaps(layer.rect) && old[other] != layer {
                #expect(
                    order[other] < order[index], "seed \(seed) at \(time): \(layer) changes places with \(old[other])")
            }
        }
    }

    private struct Seen: Hashable {
        var source: SourceID
        var rect: PixelRect
        var opacity: Double
    }

    /// The visible layers, from the lowest to the highest.
    private func seen(_ instruction: CompositionInstruction, at time: MediaTime) -> [Seen] {
        instruction.resolvedLayers(at: time).filter { $0.opacity >= StagedLayer.faintest }.map {
            Seen(source: $0.source, rect: $0.rect, opacity: $0.opacity)
        }
    }
}
