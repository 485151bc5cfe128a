#if VAAPI
    import Glibc
    import MediaCore
    import Testing

    @testable import VideoCoding

    /// Frames whose sizes follow from their QP alone, under the rate control.
    private struct QPStream {
        var control: QPRateControl
        var rate: EncodingRate
        /// The logarithm to base 2 of a frame's bits at QP 0.
        var complexity = 20.0
        /// QPs for half the size: real encoders have less than six at low rates.
        var doublingStep = 6.0
        /// The most by which a frame differs from what it should take, as a logarithm.
        var variation = 0.0
        private var random = SeededGenerator(seed: 5)

        init(_ bitRate: BitRate, frameRate: Double = 30, leastQP: Int = 0) {
            rate = EncodingRate(bitRate: bitRate, frameRate: frameRate)
            control = QPRateControl(
                rate: rate, dimensions: VideoDimensions(width: 1280, height: 720), leastQP: leastQP)
        }

        mutating func setRate(_ bitRate: BitRate) {
            rate.bitRate = bitRate
            control.setRate(rate)
        }

        /// Makes a frame. Returns its size and QP.
        @discardableResult
        mutating func frame(isKeyframe: Bool = false) -> (size: DataSize, qp: Int) {
            let qp = control.qp(isKeyframe: isKeyframe)
            let chance = Double(random.next() % 2001) / 1000 - 1
            let exponent = complexity + (isKeyframe ? 3 : 0) - Double(qp) / doublingStep + variation * chance
            let size = DataSize(bytes: exp2(exponent) / 8)
            control.made(size, qp: qp, isKeyframe: isKeyframe)
            return (size, qp)
        }

        mutating func frames(_ count: Int) -> [DataSize] { (0..<count).map { _ in frame().size } }
    }

    @Suite("A rate control by QPs")
    struct QPRateControlTests {
        @Test(
            "holds each rate within a tenth after ten frames, and nearly from the first one",
            arguments: [(6.0, 0.0), (6.0, 0.4), (4.0, 0.4), (3.0, 0.4)])
        func steps(doublingStep: Double, variation: Double) {
            var stream = QPStream(.megabits(1.5))
            (stream.doublingStep, stream.variation) = (doublingStep, variation)
            stream.complexity = 14 + 32 / doublingStep
            stream.frame(isKeyframe: true)
            _ = stream.frames(60)
            for rate in [BitRate.kilobits(500), .megabits(2), .kilobits(400), .megabits(1)] {
                stream.setRate(rate)
                let sizes = stream.frames(50)
                let first = sizes[0].bits / stream.rate.frameBits
                #expect((0.25...3).contains(first), "\(first) of a share at \(rate)")
                for start in stride(from: 10, through: 40, by: 10) {
                    let mean = BitRate(sizes[start..<start + 10].reduce(.zero, +), over: .seconds(1) / 3)
                    #expect(abs(mean / rate - 1) < 0.1, "\(mean) at \(rate)")
                }
                #expect(sizes.allSatisfy { $0 <= rate.dataSize(over: .milliseconds(150)) })
            }
        }

        @Test("gives a keyframe six shares, and has them paid back in a second")
        func keyframes() {
            var stream = QPStream(.megabits(1.5))
            stream.frame(isKeyframe: true)
            _ = stream.frames(60)
            let sizes = [stream.frame(isKeyframe: true).size] + stream.frames(30)
            #expect((5...7).contains(sizes[0].bits / stream.rate.frameBits))
            let total = sizes.reduce(.zero, +).bits / stream.rate.frameBits
            #expect(abs(total - 31) < 3.1, "\(total) shares in 31 frames")
        }

        @Test("keeps the first frame after a pause of the pictures within the buffer")
        func standStill() {
            var stream = QPStream(.megabits(1.5))
            stream.frame(isKeyframe: true)
            _ = stream.frames(60)
            let usual = stream.frame().qp
            stream.complexity -= 7
            _ = stream.frames(15)
            // Pictures that stand still have become better.
            #expect(stream.frame().qp < usual - 6)
            stream.complexity += 7
            let size = stream.frame().size
            #expect(size <= stream.rate.bitRate.dataSize(over: .milliseconds(200)), "\(size)")
        }

        @Test("pays back a frame that was far too large")
        func outlier() {
            var stream = QPStream(.megabits(1))
            stream.frame(isKeyframe: true)
            _ = stream.frames(60)
            stream.complexity += 3
            let outlier = stream.frame().size
            stream.complexity -= 3
            let total = (outlier + stream.frames(29).reduce(.zero, +)).bits / stream.rate.frameBits
            #expect(abs(total - 30) < 3, "\(total) shares in 30 frames")
        }

        @Test("takes back a frame that is not sent")
        func withdrawal() {
            var stream = QPStream(.megabits(1))
            stream.frame(isKeyframe: true)
            _ = stream.frames(60)
            var other = stream
            stream.control.made(DataSize(bytes: 12_000), qp: 30, isKeyframe: true)
            other.control.made(DataSize(bytes: 12_000), qp: 30, isKeyframe: true)
            other.control.withdrawLastFrame()
            #expect(other.control.qp(isKeyframe: false) < stream.control.qp(isKeyframe: false))
        }

        @Test("gives pictures no better QP than asked for", arguments: [0, 24, 60])
        func leastQP(limit: Int) {
            var stream = QPStream(.megabits(20), leastQP: limit)
            let qps = [stream.frame(isKeyframe: true).qp] + (0..<60).map { _ in stream.frame().qp }
            #expect(qps.min() == min(max(limit, 10), 51))
        }

        @Test("stays within the QPs there are, whatever it is told, and finds back")
        func absurd() {
            var stream = QPStream(.megabits(1))
            for frameRate in [0, -1, 30, 1e300, .infinity, .nan] {
                for bitRate in [BitRate.zero, .kilobits(1), BitRate(bitsPerSecond: Int64.max)] {
                    stream.control.setRate(EncodingRate(bitRate: bitRate, frameRate: frameRate))
                    for size in [0, 1, 1_000_000, Int.max, Int.min] {
                        for isKeyframe in [true, false] {
                            let qp = stream.control.qp(isKeyframe: isKeyframe)
                            #expect((10...51).contains(qp))
                            stream.control.made(DataSize(bytes: size), qp: qp, isKeyframe: isKeyframe)
                        }
                    }
                }
            }
            stream.setRate(.megabits(1))
            _ = stream.frames(600)
            let mean = BitRate(stream.frames(30).reduce(.zero, +), over: .seconds(1))
            #expect(abs(mean / .megabits(1) - 1) < 0.1, "\(mean)")
            let smallest = QPRateControl(
                rate: EncodingRate(bitRate: .zero, frameRate: 0), dimensions: VideoDimensions(width: 0, height: 0),
                leastQP: .min)
            #expect((10...51).contains(smallest.qp(isKeyframe: true)))
        }
    }
#endif
