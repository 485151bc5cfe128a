import MediaCore
import Testing

@testable import VideoCoding

@Suite("The rate of an encoder")
struct RateTests {
    @Test(
        "follows steps within a tenth over the next 15 frames, without a keyframe", arguments: backEnds,
        EncoderPreset.allCases)
    func steps(backEnd: EncoderBackEnd, preset: EncoderPreset) throws {
        let encoder = try TestEncoder(backEnd, mediumPicture, bitRate: .megabits(1.5), profile: .high) {
            $0.preset = preset
        }
        let pattern = MovingPattern(mediumPicture)
        _ = try encoder.encode(0..<60, of: pattern)
        var next = 60
        for target in [BitRate.kilobits(500), .megabits(2), .kilobits(800)] {
            try encoder.session.set(\.averageBitRate, to: target)
            let frames = try encoder.encode(next..<next + 30, of: pattern)
            next += 30
            #expect(!frames.contains { $0.isKeyframe })
            let early = meanRate(frames.prefix(15), frameRate: 30) / target
            #expect(abs(early - 1) < 0.1, "\(early) of \(target) in the first 15 frames")
            let late = meanRate(frames.dropFirst(15), frameRate: 30) / target
            #expect(abs(late - 1) < 0.05, "\(late) of \(target) after that")
        }
    }

    @Test("is met over some seconds where it is an average", arguments: backEnds(with: .rateControlMode, "average"))
    func average(backEnd: EncoderBackEnd) throws {
        let encoder = try TestEncoder(backEnd, mediumPicture, bitRate: .megabits(1)) { $0.rateControlMode = .average }
        let frames = try encoder.encode(0..<120, of: MovingPattern(mediumPicture))
        let share = meanRate(frames.dropFirst(30), frameRate: 30) / .megabits(1)
        #expect(abs(share - 1) < 0.1, "\(share) of the target")
    }

    @Test("is kept at another frame rate, without a keyframe", arguments: backEnds)
    func frameRate(backEnd: EncoderBackEnd) throws {
        let encoder = try TestEncoder(backEnd, mediumPicture)
        let pattern = MovingPattern(mediumPicture)
        _ = try encoder.encode(0..<75, of: pattern)
        var next = 75
        for frameRate in [15.0, 30, 10] {
            try encoder.session.set(\.expectedFrameRate, to: frameRate)
            let frames = try encoder.encode(next..<next + 30, of: pattern)
            next += 30
            #expect(!frames.contains { $0.isKeyframe })
            let share = meanRate(frames[...], frameRate: frameRate) / .megabits(1)
            // If the latency budget is less than two frames long, x264 keeps back a tenth or more so as not to exceed
            // it.
            #expect(abs(share - 1) < (frameRate < 20 ? 0.2 : 0.1), "\(share) at \(frameRate) frames a second")
        }
    }

    @Test("makes up for a large keyframe within two seconds", arguments: backEnds)
    func repayment(backEnd: EncoderBackEnd) throws {
        let frames = try makeStream(backEnd, mediumPicture, frames: 90)
        let early = meanRate(frames.prefix(60), frameRate: 30) / .megabits(1)
        #expect(early < 1.1, "\(early) of the target over two seconds")
        let late = meanRate(frames.dropFirst(60), frameRate: 30) / .megabits(1)
        #expect(abs(late - 1) < 0.05, "\(late) of the target thereafter")
    }

    @Test("at the level's limit stays there after easy pictures, too", arguments: backEnds, H264Profile.allCases)
    func levelLimit(backEnd: EncoderBackEnd, profile: H264Profile) throws {
        let encoder = try TestEncoder(backEnd, smallPicture, bitRate: .megabits(50)) {
            $0.profileLevel = H264ProfileLevel(profile, level: H264Level(levelIDC: 11))
        }
        let pattern = MovingPattern(smallPicture)
        for number in 0..<30 {
            #expect(try encoder.encode(pattern.picture(number < 15 ? 0 : number), number) != nil)
        }
        #expect(encoder.session.statistics.framesFailed == 0)
    }

    private func meanRate(_ frames: ArraySlice<EncodedFrame>, frameRate: Double) -> BitRate {
        BitRate(Array(frames).size, over: .seconds(Double(frames.count) / frameRate))
    }
}

@Suite("The overspend meter")
struct OverspendMeterTests {
    private let rate = EncodingRate(bitRate: .megabits(1), frameRate: 25)  // 5000 bytes a frame

    @Test("asks for the target, or nearly, while frames vary about their share")
    func variation() {
        var meter = OverspendMeter(rate: rate)
        for number in 0..<100 {
            meter.spend(DataSize(bytes: number % 2 == 0 ? 7000 : 3000))
            #expect(meter.allowance == rate.bitRate)
        }
    }

    @Test("asks for less after a large frame, until it is paid back")
    func debt() {
        var meter = OverspendMeter(rate: rate)
        meter.spend(DataSize(bytes: 20_000))  // 160 ms, 60 of them free of charge
        #expect(abs(meter.allowance / rate.bitRate - 0.6) < 0.001)
        for _ in 0..<40 { meter.spend(meter.allowance.dataSize(over: .milliseconds(40))) }
        #expect(meter.allowance / rate.bitRate > 0.98)
    }

    @Test("forgets most of the debt after a long time over the target")
    func boundedDebt() {
        var meter = OverspendMeter(rate: rate)
        for _ in 0..<10_000 { meter.spend(DataSize(bytes: 50_000)) }
        #expect(meter.allowance == rate.bitRate * 0.5)
        for _ in 0..<75 { meter.spend(meter.allowance.dataSize(over: .milliseconds(40))) }
        #expect(meter.allowance / rate.bitRate > 0.95)
    }

    @Test("asks for a little more after frames that were too small, and not for long")
    func credit() {
        var meter = OverspendMeter(rate: rate)
        for _ in 0..<1000 { meter.spend(.zero) }
        #expect(meter.allowance == rate.bitRate * 1.3)
        // Two frames' worth are spent.
        var surplus = 0
        for _ in 0..<50 {
            let size = meter.allowance.dataSize(over: .milliseconds(40))
            surplus += size.bytes - 5000
            meter.spend(size)
        }
        #expect(abs(surplus - 10_000) < 200, "\(surplus)")
    }

    @Test("counts a queue for less on a faster link and for no more on a slower one")
    func rateChange() {
        var meter = OverspendMeter(rate: rate)
        meter.spend(DataSize(bytes: 20_000))
        meter.setRate(EncodingRate(bitRate: .kilobits(500), frameRate: 25))
        #expect(abs(meter.allowance / .kilobits(500) - 0.6) < 0.001)
        meter.setRate(EncodingRate(bitRate: .megabits(1), frameRate: 25))
        #expect(abs(meter.allowance / .megabits(1) - 0.84) < 0.001)
    }
}
