import Foundation
import MediaCore
import Testing
import VideoCoding

@testable import EncoderSharing

/// The rungs below a canvas.
@Suite struct LadderTests {
    private static let hd = VideoDimensions(width: 1280, height: 720)

    @Test("faces lose size first, and their motion late")
    func motion() {
        let ladder = Ladder(canvas: Self.hd, frameRate: 30, preference: .motion)
        #expect(
            ladder.rungs.map(\.description) == [
                "1280x720@30", "960x540@30", "640x360@30", "640x360@15", "320x180@15",
            ])
    }

    @Test("a presented screen loses pictures a second first, and its size late")
    func detail() {
        let ladder = Ladder(canvas: Self.hd, frameRate: 30, preference: .detail)
        #expect(
            ladder.rungs.map(\.description) == [
                "1280x720@30", "1280x720@15", "1280x720@7", "960x540@7", "640x360@7",
            ])
    }

    @Test(
        "rungs have even sizes, become less and less, and are not smaller than a face can be",
        arguments: [
            VideoDimensions(width: 1920, height: 1080), VideoDimensions(width: 1366, height: 768),
            VideoDimensions(width: 720, height: 1280), VideoDimensions(width: 640, height: 360),
            VideoDimensions(width: 320, height: 180), VideoDimensions(width: 16, height: 16),
        ], [5, 15, 25, 30, 60])
    func everyCanvas(canvas: VideoDimensions, frameRate: Int) {
        for preference in [Ladder.DegradationPreference.motion, .detail] {
            let rungs = Ladder(canvas: canvas, frameRate: frameRate, preference: preference).rungs
            #expect(rungs.first?.dimensions == canvas && rungs.first?.frameRate == frameRate)
            for rung in rungs.dropFirst() {
                #expect(rung.dimensions.width.isMultiple(of: 2) && rung.dimensions.height.isMultiple(of: 2))
                #expect(rung.dimensions == canvas || rung.dimensions.area >= 320 * 180)
            }
            let loads = rungs.map { $0.dimensions.area * $0.frameRate }
            #expect(zip(loads, loads.dropFirst()).allSatisfy { $0 > $1 })
        }
    }

    @Test("without a ladder there is the canvas alone")
    func off() {
        #expect(Ladder(canvas: Self.hd, frameRate: 30, preference: .motion, isOn: false).rungs.count == 1)
    }

    @Test(
        "a rung has as many pictures a second as whole parts of the ticks give",
        arguments: [(30, 15), (25, 12), (20, 20), (15, 15), (10, 10)])
    func picturesOfTicks(tickRate: Int, pictures: Int) {
        let rung = EncodeRung(dimensions: Self.hd, frameRate: 15)
        #expect(rung.encoded(ofTicks: tickRate).frameRate == pictures)
        #expect(rung.encoded(ofTicks: nil) == rung)
    }
}

/// The choice of a rung, with frames made up as an encoder would make them.
@Suite struct RungSelectorTests {
    private static let ladder = Ladder(
        canvas: VideoDimensions(width: 1280, height: 720), frameRate: 30, preference: .motion)
    private static let start = MonotonicInstant(nanoseconds: 1_000_000_000)

    /// Content that needs `rate` as 720p at 30 pictures a second with a quantisation parameter of 34.
    private static func content(needing rate: BitRate) -> ContentComplexity {
        ContentComplexity(qp: 34, rate: rate, rung: ladder.top)
    }
    private static let talkingHead = content(needing: .kilobits(350))
    private static let sport = content(needing: .kilobits(2500))

    /// An encoder that follows a selector, and records the result.
    private struct Encoder {
        var selector: RungSelector
        var steps: [(time: Duration, rung: EncodeRung)] = []
        private var now = RungSelectorTests.start
        private var isKeyframe = true
        private var lastKeyframe = RungSelectorTests.start
        /// The excess of the QP by the time since the last keyframe.
        var excess: (Duration) -> Double = { _ in 0 }

        init(ladder: Ladder = RungSelectorTests.ladder, rate: BitRate = .megabits(2), cost: ContentComplexity? = nil) {
            selector = RungSelector(ladder: ladder, rate: rate, cost: cost)
        }

        mutating func run(
            _ content: ContentComplexity, at rate: BitRate, ladder: Ladder = RungSelectorTests.ladder,
            tickRate: Int = 30, for duration: Duration
        ) {
            let end = now + duration
            while now < end {
                let rung = selector.rung.encoded(ofTicks: tickRate)
                // The QP ends at 10, and there the rate is not spent.
                let wanted = content.qp(at: rung, rate: rate)
                let qp = min(max(wanted, 10), 51)
                var spent = rate
                for _ in 0..<Int(max(0, qp - wanted)) { spent = spent * 0.8909 }
                if isKeyframe { lastKeyframe = now }
                var frame = EncodeStatistics(
                    type: isKeyframe ? .idr : .p,
                    size: spent.dataSize(over: .seconds(1) / rung.frameRate))
                frame.averageQP = isKeyframe ? 48 : Int(min(qp + excess(now - lastKeyframe), 51))
                isKeyframe = false
                selector.observe(frame, tickRate: tickRate, now: now)
                if let next = selector.wanted(
                    in: ladder, rates: RungSelector.Rates(encoder: rate, slowest: rate, tickRate: tickRate), now: now)
                {
                    isKeyframe = next.dimensions != rung.dimensions
                    selector.step(to: next, now: now)
                    steps.append((now - RungSelectorTests.start, next))
                }
                now += .seconds(1) / rung.frameRate
            }
        }
    }

    @Test("at one and the same rate a talking head stays at 720p and sport does not")
    func contentDecides() {
        var head = Encoder()
        head.run(Self.talkingHead, at: .kilobits(400), for: .seconds(20))
        #expect(head.selector.rung == Self.ladder.top)
        #expect(head.steps.isEmpty)
        var sport = Encoder()
        sport.run(Self.sport, at: .kilobits(400), for: .seconds(20))
        #expect(sport.selector.rung.dimensions.height <= 360, "\(sport.selector.rung)")
        #expect(sport.steps.count == 1, "\(sport.steps)")
    }

    @Test("a size whose keyframes take the link too long is abandoned at any quality, and used again with some room")
    func keyframesDecide() {
        var encoder = Encoder()
        let still = Self.content(needing: .kilobits(100))
        encoder.run(still, at: .kilobits(300), for: .seconds(10))
        #expect(encoder.steps.isEmpty)
        encoder.run(still, at: .kilobits(250), for: .seconds(10))
        #expect(encoder.steps.map(\.rung.dimensions.height) == [540])
        encoder.run(still, at: .kilobits(300), for: .seconds(10))
        #expect(encoder.steps.count == 1)
        encoder.run(still, at: .kilobits(400), for: .seconds(10))
        #expect(encoder.steps.map(\.rung.dimensions.height) == [540, 720])
    }

    @Test("one poor second does not lower the rung")
    func isPatient() {
        var encoder = Encoder()
        encoder.run(Self.sport, at: .megabits(3), for: .seconds(5))
        encoder.run(Self.sport, at: .kilobits(1300), for: .seconds(1))
        encoder.run(Self.sport, at: .megabits(3), for: .seconds(5))
        #expect(encoder.steps.isEmpty)
        encoder.run(Self.sport, at: .kilobits(1300), for: .seconds(3))
        #expect(encoder.selector.rung != Self.ladder.top)
    }

    @Test("half of the pictures a second, each with twice the bits, keep their size")
    func fewerPictures() {
        var encoder = Encoder()
        encoder.run(Self.sport, at: .kilobits(1800), for: .seconds(10))
        encoder.run(Self.sport, at: .kilobits(1800), tickRate: 15, for: .seconds(10))
        #expect(encoder.steps.isEmpty, "\(encoder.steps.map(\.rung))")
    }

    @Test("content is as complex as it is, where overload control leaves more ticks than the rung has pictures")
    func complexityUnderOverload() throws {
        let rung = EncodeRung(dimensions: VideoDimensions(width: 640, height: 360), frameRate: 15)
        var encoder = Encoder(cost: Self.sport)
        encoder.selector.step(to: rung, now: Self.start)
        // An encoder that has 20 pictures a second.
        let encoded = EncodeRung(dimensions: rung.dimensions, frameRate: 20)
        // At this rate the QP is nearly whole, as that of a frame is.
        let rate = BitRate.kilobits(650)
        for tick in 0..<40 {
            var frame = EncodeStatistics(type: .p, size: rate.dataSize(over: .milliseconds(50)))
            frame.averageQP = Int(Self.sport.qp(at: encoded, rate: rate).rounded())
            encoder.selector.observe(
                frame, tickRate: 20, now: Self.start + .seconds(1) + .milliseconds(50) * tick)
        }
        let cost = try #require(encoder.selector.cost)
        #expect(abs(cost.level - Self.sport.level) < 0.05)
    }

    @Test("a rate that falls to a sixth is followed within a second")
    func fallsFast() throws {
        var encoder = Encoder()
        encoder.run(Self.sport, at: .megabits(2), for: .seconds(10))
        encoder.run(Self.sport, at: .kilobits(300), for: .seconds(2))
        let step = try #require(encoder.steps.last)
        #expect(step.time < .seconds(11), "\(step.time)")
        #expect(
            Self.sport.qp(at: step.rung, rate: .kilobits(300)) < RungSelector.ceiling
                || step.rung == Self.ladder.bottom)
    }

    @Test("it goes up after seconds of head-room, in one step")
    func goesUp() throws {
        var encoder = Encoder()
        encoder.run(Self.sport, at: .kilobits(300), for: .seconds(5))
        let low = encoder.steps.count
        encoder.run(Self.sport, at: .megabits(3), for: .seconds(2))
        #expect(encoder.steps.count == low)
        encoder.run(Self.sport, at: .megabits(3), for: .seconds(3))
        #expect(encoder.selector.rung == Self.ladder.top)
        #expect(encoder.steps.count == low + 1)
    }

    @Test("a step up is not taken back because its coarse keyframe takes a second to become sharp")
    func refinesAfterStepUp() {
        var encoder = Encoder()
        encoder.run(Self.sport, at: .kilobits(700), for: .seconds(10))
        let rung = encoder.selector.rung
        // The rate is spent on the refinement, and this size takes more than was expected.
        encoder.excess = { $0 < .seconds(5) ? 3 + 18 * exp($0.seconds / -0.6) : 0 }
        encoder.run(Self.sport, at: .kilobits(1600), for: .seconds(20))
        let steps = encoder.steps.filter { $0.time > .seconds(10) }
        #expect(steps.count == 1 && encoder.selector.rung.dimensions.area > rung.dimensions.area, "\(encoder.steps)")
    }

    @Test(
        "all pictures a second are regained within seconds where their size is kept and they are good",
        arguments: [35.5, 37.2])
    func regainsFrameRate(qp: Double) throws {
        let rung = EncodeRung(dimensions: VideoDimensions(width: 640, height: 360), frameRate: 15)
        // At 30 pictures a second the QP will be poorer than where a size is regained, and better than where one is
        // given up.
        let wanted = EncodeRung(dimensions: rung.dimensions, frameRate: 30)
        let content = ContentComplexity(qp: qp, rate: .kilobits(400), rung: wanted)
        var encoder = Encoder(rate: .kilobits(150), cost: content)
        #expect(encoder.selector.rung.frameRate == 15)
        encoder.selector.step(to: rung, now: Self.start)
        encoder.run(content, at: .kilobits(400), for: .seconds(5))
        #expect(encoder.selector.rung == wanted)
        encoder.run(content, at: .kilobits(400), for: .seconds(60))
        #expect(encoder.steps.map(\.rung) == [wanted])
    }

    @Test("a rate that goes up and down makes it wait longer and longer")
    func backsOff() {
        var encoder = Encoder()
        for _ in 0..<20 {
            encoder.run(Self.sport, at: .kilobits(1000), for: .seconds(4))
            encoder.run(Self.sport, at: .megabits(3), for: .seconds(5))
        }
        // Three minutes.
        #expect(encoder.steps.count <= 8, "\(encoder.steps.map { "\($0.time.seconds) \($0.rung)" })")
    }

    @Test("a rate that varies by a tenth changes nothing", arguments: [1, 2, 3] as [UInt64])
    func doesNotFlap(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var encoder = Encoder()
        let rate = Double.random(in: 300...2500, using: &random)
        for _ in 0..<600 {
            encoder.run(
                Self.sport, at: .kilobits(rate * Double.random(in: 0.9...1.1, using: &random)), for: .milliseconds(500))
        }
        #expect(encoder.steps.count <= 2, "\(encoder.steps.map { "\($0.time.seconds) \($0.rung)" }) at \(rate)")
    }

    @Test("an encoder of content that is known to be complex begins at a good rung")
    func beginsLow() {
        let selector = RungSelector(ladder: Self.ladder, rate: .kilobits(300), cost: Self.sport)
        #expect(selector.rung == Self.ladder.bottom)
        #expect(RungSelector(ladder: Self.ladder, rate: .kilobits(300)).rung == Self.ladder.top)
    }

    @Test("when a screen share appears, its ladder is used")
    func otherLadder() {
        var encoder = Encoder()
        encoder.run(Self.sport, at: .kilobits(300), for: .seconds(5))
        let screenShare = Ladder(
            canvas: VideoDimensions(width: 1280, height: 720), frameRate: 30, preference: .detail)
        encoder.run(Self.talkingHead, at: .kilobits(300), ladder: screenShare, for: .seconds(10))
        #expect(screenShare.rungs.contains(encoder.selector.rung))
        #expect(encoder.selector.rung.dimensions.height == 720, "\(encoder.selector.rung)")
    }
}
