import MediaCore
import Testing

@testable import VideoCoding

@Suite("The rate of an encoder")
struct RateTests {
    @Test("follows steps within a tenth over the next 15 frames, without a key frame", arguments: backEnds)
    func steps(backEnd: EncoderBackEnd) throws {
        let session = try CompressionSession(
            backEnd: backEnd,
            configuration: CompressionConfiguration(
                dimensions: mediumPicture, averageBitRate: .megabits(1.5), profile: .high))
        let pattern = MovingPattern(mediumPicture)
        _ = try encode(0..<75, of: pattern, with: session)
        var next = 75
        for target in [BitRate.kilobits(500), .megabits(2), .megabits(1), .kilobits(800)] {
            session.setAverageBitRate(target)
            let frames = try encode(next..<next + 45, of: pattern, with: session)
            next += 45
            #expect(!frames.contains { $0.isKeyFrame })
            let early = meanRate(frames.prefix(15), frameRate: 30) / target
            #expect(abs(early - 1) < 0.1, "\(early) of \(target) in the first 15 frames")
            let late = meanRate(frames.dropFirst(15), frameRate: 30) / target
            #expect(abs(late - 1) < 0.05, "\(late) of \(target) after that")
        }
    }

    @Test("is kept at another frame rate, without a key frame", arguments: backEnds)
    func frameRate(backEnd: EncoderBackEnd) throws {
        let session = try CompressionSession(
            backEnd: backEnd,
            configuration: CompressionConfiguration(dimensions: mediumPicture, averageBitRate: .megabits(1)))
        let pattern = MovingPattern(mediumPicture)
        _ = try encode(0..<75, of: pattern, with: session)
        var next = 75
        for frameRate in [15, 30, 10] {
            session.setExpectedFrameRate(frameRate)
            let frames = try encode(next..<next + 30, of: pattern, with: session)
            next += 30
            #expect(!frames.contains { $0.isKeyFrame })
            let share = meanRate(frames[...], frameRate: frameRate) / .megabits(1)
            #expect(abs(share - 1) < 0.1, "\(share) at \(frameRate) frames a second")
        }
    }

    @Test("leaves no frame but OpenH264's key frames over the latency budget", arguments: backEnds)
    func frameSizes(backEnd: EncoderBackEnd) throws {
        let session = try CompressionSession(
            backEnd: backEnd,
            configuration: CompressionConfiguration(
                dimensions: mediumPicture, averageBitRate: .kilobits(800), profile: .main,
                latencyBudget: .milliseconds(100)))
        var pattern = MovingPattern(mediumPicture)
        _ = try encode(0..<45, of: pattern, with: session)
        session.setAverageBitRate(.kilobits(400))
        _ = try encode(45..<90, of: pattern, with: session)
        pattern.scene = 3
        _ = try encode(90..<91, of: pattern, with: session, forcingKeyFrames: true)
        _ = try encode(91..<120, of: pattern, with: session)
        let counts = session.statistics
        #expect(counts.keyFrames == 2)
        #expect(counts.framesOverBudget <= (backEnd == .openH264 ? 2 : 0))
    }

    @Test("makes up for a large key frame within two seconds", arguments: backEnds)
    func repayment(backEnd: EncoderBackEnd) throws {
        let session = try CompressionSession(
            backEnd: backEnd,
            configuration: CompressionConfiguration(dimensions: mediumPicture, averageBitRate: .megabits(1)))
        let frames = try encode(0..<90, of: MovingPattern(mediumPicture), with: session)
        let early = meanRate(frames.prefix(60), frameRate: 30) / .megabits(1)
        #expect(early < 1.1, "\(early) of the target over two seconds")
        let late = meanRate(frames.dropFirst(60), frameRate: 30) / .megabits(1)
        #expect(abs(late - 1) < 0.05, "\(late) of the target thereafter")
    }

    @Test("is held within what the level allows")
    func levelLimit() throws {
        let session = try CompressionSession(
            configuration: CompressionConfiguration(
                dimensions: smallPicture, averageBitRate: .kilobits(100), levelIDC: 11))
        session.setAverageBitRate(.megabits(50))
        #expect(session.averageBitRate == .kilobits(192))
        session.setAverageBitRate(.zero)
        #expect(session.averageBitRate == CompressionConfiguration.minimumBitRate)
    }

    private func meanRate(_ frames: ArraySlice<EncodedFrame>, frameRate: Int) -> BitRate {
        let size = frames.reduce(DataSize.zero) { $0 + $1.size }
        return BitRate(size, over: .seconds(Double(frames.count) / Double(frameRate)))
    }
}

@Suite("The overspend meter")
struct OverspendMeterTests {
    private let rate = EncodingRate(bitRate: .megabits(1), frameRate: 25)

    @Test("asks for the whole target as long as frames stay within the budget")
    func withinBudget() {
        var meter = OverspendMeter(latencyBudget: .milliseconds(100))
        meter.spend(DataSize(bytes: 17_000), at: rate)  // 136 kbit, 40 kbit of them due
        #expect(meter.allowance(for: rate.bitRate) == rate.bitRate)
    }

    @Test("asks for less after a frame over the budget, until it is paid back")
    func debt() {
        var meter = OverspendMeter(latencyBudget: .milliseconds(100))
        meter.spend(DataSize(bytes: 30_000), at: rate)  // 200 kbit over what is due, 100 kbit over the budget
        #expect(abs(meter.allowance(for: rate.bitRate) / rate.bitRate - 0.8) < 0.001)
        for _ in 0..<75 {
            let allowance = meter.allowance(for: rate.bitRate)
            meter.spend(allowance.dataSize(over: .milliseconds(40)), at: rate)
        }
        #expect(meter.allowance(for: rate.bitRate) / rate.bitRate > 0.98)
    }

    @Test("never asks for less than half of the target, however long it was overspent")
    func boundedDebt() {
        var meter = OverspendMeter(latencyBudget: .milliseconds(100))
        for _ in 0..<10_000 { meter.spend(DataSize(bytes: 50_000), at: rate) }
        #expect(abs(meter.allowance(for: rate.bitRate) / rate.bitRate - 0.5) < 0.001)
    }
}
