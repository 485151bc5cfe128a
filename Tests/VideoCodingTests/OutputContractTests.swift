import MediaCore
import NIOCore
import Testing

@testable import VideoCoding

@Suite("The outputs of a compression session")
struct OutputContractTests {
    private let pattern = MovingPattern(smallPicture)

    @Test("come with the frame's time, duration and token", arguments: backEnds)
    func tokens(backEnd: EncoderBackEnd) throws {
        let encoder = try TestEncoder(backEnd, smallPicture)
        for number in 0..<4 {
            try encoder.session.encode(
                pattern.picture(number), presentationTime: frameTime(number),
                duration: MediaTime(value: 1, timescale: 30), token: FrameToken(UInt64(100 + number)))
            let output = try #require(encoder.outputs.next())
            #expect(output.presentationTime == frameTime(number))
            #expect(output.token == FrameToken(UInt64(100 + number)))
            #expect(output.frame?.sample.presentationTime == frameTime(number))
            #expect(output.frame?.sample.duration == MediaTime(value: 1, timescale: 30))
            #expect(encoder.outputs.next() == nil)
        }
    }

    @Test("continue after a frame whose time is not after the last one's", arguments: backEnds)
    func times(backEnd: EncoderBackEnd) throws {
        let encoder = try TestEncoder(backEnd, smallPicture)
        _ = try encoder.encode(0..<3, of: pattern)
        for number in [2, 1, 0] {
            #expect(
                throws: VideoCodingError.timeNotIncreasing(frameTime(number), previous: frameTime(2))
            ) { try encoder.encode(pattern.picture(number), number) }
        }
        for time in [MediaTime.invalid, .indefinite, .positiveInfinity, .negativeInfinity] {
            #expect(throws: VideoCodingError.self) {
                try encoder.session.encode(pattern.picture(3), presentationTime: time)
            }
        }
        #expect(encoder.takeOutputs().isEmpty)
        let frames = try encoder.encode(3..<6, of: pattern)
        #expect(!frames.contains { $0.isKeyframe })
        #expect(frames.map(\.sample.presentationTime) == (3..<6).map(frameTime))
    }

    @Test(
        "are frames that decode, and at once, also of noise at a high rate or quality",
        arguments: backEnds, [RateControlMode.constrainedVariable, .quality])
    func noise(backEnd: EncoderBackEnd, mode: RateControlMode) throws {
        let encoder = try TestEncoder(backEnd, mediumPicture, bitRate: .megabits(20)) { $0.rateControlMode = mode }
        let pattern = MovingPattern(mediumPicture)
        var frames: [EncodedFrame] = []
        for number in 0..<12 {
            let picture = (1..<6).contains(number) ? noise(seed: UInt64(number)) : pattern.picture(number)
            frames.append(try #require(try encoder.encode(picture, number)))
        }
        // Two keyframes in a row that are the same to a decoder would be one picture.
        #expect(try expectEqualPictures(frames.map(\.sample)) == 12)
    }

    @Test("go on after noise at any rate", arguments: backEnds)
    func noiseAtOddRates(backEnd: EncoderBackEnd) throws {
        // Beyond 2²⁴ not all of these are numbers of `Float`.
        for bits: Int64 in [20_259_776, 25_905_363, 43_088_234, 72_472_608, 107_626_784] {
            let encoder = try TestEncoder(backEnd, mediumPicture, bitRate: BitRate(bitsPerSecond: bits))
            for number in 0..<4 {
                #expect(try encoder.encode(noise(seed: UInt64(number)), number) != nil, "\(bits)")
            }
        }
    }

    @Test(
        "fit into OpenH264's memory with arithmetic coding", arguments: [RateControlMode.constrainedVariable, .quality])
    func arithmeticNoise(mode: RateControlMode) throws {
        let pattern = MovingPattern(mediumPicture)
        for layers in [1, 3] {
            let encoder = try TestEncoder(.openH264, mediumPicture, bitRate: .megabits(50), profile: .high) {
                $0.rateControlMode = mode
                $0.temporalLayers = layers
            }
            #expect(encoder.session.properties.entropyMode == .cabac)
            for number in 0..<8 {
                let picture = number < 4 ? noise(seed: UInt64(number), isBlackAndWhite: true) : pattern.picture(number)
                let frame = try #require(try encoder.encode(picture, number))
                #expect(try #require(frame.statistics.averageQP) >= 20)
            }
        }
    }

    private func noise(seed: UInt64, isBlackAndWhite: Bool = false) -> PixelBuffer {
        var generator = SeededGenerator(seed: seed)
        var picture = MutablePixelBuffer(format: .i420, dimensions: mediumPicture)
        for plane in 0..<3 {
            picture.withMutablePlane(plane) { bytes, _ in
                for index in bytes.indices {
                    let sample = UInt8.random(in: 0...255, using: &generator)
                    bytes[index] = isBlackAndWhite ? (sample < 128 ? 0 : 255) : sample
                }
            }
        }
        return picture.freeze()
    }

    @Test("are all there when frames wait for later ones", arguments: backEnds(with: .realTime, "false"))
    func delayed(backEnd: EncoderBackEnd) throws {
        let encoder = try TestEncoder(backEnd, smallPicture, profile: .high) {
            $0.realTime = false
            $0.allowFrameReordering = true
        }
        for number in 0..<30 {
            try encoder.session.encode(
                pattern.picture(number), presentationTime: frameTime(number), token: FrameToken(UInt64(number)))
        }
        encoder.session.completeFrames()
        let outputs = encoder.takeOutputs()
        let frames = outputs.compactMap(\.frame)
        try #require(frames.count == 30)
        #expect(Set(outputs.map(\.token.rawValue)) == Set(0..<30))
        #expect(frames.contains { $0.statistics.type == .b })
        let times = frames.map(\.sample.presentationTime)
        #expect(times != times.sorted())
        let decodeTimes = try frames.map { try #require($0.sample.decodeTime) }
        #expect(zip(decodeTimes, decodeTimes.dropFirst()).allSatisfy { $0 < $1 })
        #expect(zip(decodeTimes, times).allSatisfy { $0 <= $1 })
        #expect(try libavcodecPictures(frames.map(\.sample)).count == 30)
    }

    @Test("continue after all were requested", arguments: backEnds(with: .realTime, "false"))
    func goesOn(backEnd: EncoderBackEnd) throws {
        let encoder = try TestEncoder(backEnd, smallPicture, profile: .main) {
            $0.realTime = false
            $0.allowFrameReordering = true
        }
        for number in 0..<10 {
            try encoder.session.encode(pattern.picture(number), presentationTime: frameTime(number))
        }
        encoder.session.completeFrames(until: frameTime(3))
        let first = encoder.takeOutputs().compactMap(\.frame)
        #expect(Set(first.map(\.sample.presentationTime)).isSuperset(of: (0..<4).map(frameTime)))
        for number in 10..<20 {
            try encoder.session.encode(pattern.picture(number), presentationTime: frameTime(number))
        }
        encoder.session.completeFrames()
        let frames = first + encoder.takeOutputs().compactMap(\.frame)
        #expect(frames.count == 20)
        let decodeTimes = try frames.map { try #require($0.sample.decodeTime) }
        #expect(zip(decodeTimes, decodeTimes.dropFirst()).allSatisfy { $0 < $1 })
        #expect(try libavcodecPictures(frames.map(\.sample)).count == 20)
    }

    @Test(
        "that begin anew behind a keyframe have another number than it, and are decoded after it",
        arguments: backEnds(with: .realTime, "false"))
    func keyframeNumbers(backEnd: EncoderBackEnd) throws {
        let encoder = try TestEncoder(backEnd, smallPicture, profile: .main) {
            $0.realTime = false
            $0.allowFrameReordering = true
        }
        var frames: [EncodedFrame] = []
        var number = 0
        for count in [1, 1, 12, 1, 1] {
            for _ in 0..<count {
                try encoder.session.encode(pattern.picture(number), presentationTime: frameTime(number))
                number += 1
            }
            encoder.session.completeFrames()
            frames += encoder.takeOutputs().compactMap(\.frame)
        }
        #expect(frames.count == number)
        let inspector = try #require(SliceInspector(parameterSets: frames[0].sample.format.parameterSets))
        let numbers = frames.map { inspector.inspect($0.sample.data.contiguous())?.keyframeID }
        #expect(numbers.count { $0 != nil } == 5)
        for (one, next) in zip(numbers, numbers.dropFirst()) where one != nil { #expect(one != next) }
        let decodeTimes = try frames.map { try #require($0.sample.decodeTime) }
        #expect(zip(decodeTimes, decodeTimes.dropFirst()).allSatisfy { $0 < $1 })
        #expect(zip(decodeTimes, frames).allSatisfy { $0 <= $1.sample.presentationTime })
        #expect(try libavcodecPictures(frames.map(\.sample)).count == number)
    }

    @Test("of frames that were not asked for say that the session ended", arguments: backEnds(with: .realTime, "false"))
    func ended(backEnd: EncoderBackEnd) throws {
        for isDropped in [false, true] {
            var encoder = try TestEncoder(backEnd, smallPicture) { $0.realTime = false }
            let outputs = encoder.outputs
            for number in 0..<5 {
                try encoder.session.encode(pattern.picture(number), presentationTime: frameTime(number))
            }
            if isDropped {
                encoder = try TestEncoder(backEnd, smallPicture)
            } else {
                encoder.session.invalidate()
                #expect(throws: VideoCodingError.sessionInvalidated) { try encoder.encode(pattern.picture(5), 5) }
            }
            var results: [EncodeResult] = []
            while let output = outputs.next() { results.append(output.result) }
            try #require(results.count == 5)
            for result in results {
                switch result {
                case .dropped(.sessionEnded), .frame: break
                default: Issue.record("\(result)")
                }
            }
        }
    }

    @Test("reuse the memory of frames that nobody holds any more")
    func memory() {
        var memory = OutputMemory(count: 4)
        func address(_ size: Int) -> UInt {
            let buffer = memory.makeBuffer(size: size) { $0.writeRepeatingByte(7, count: size) }
            return buffer.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
        }
        let first = (0..<4).map { _ in address(1000) }
        for _ in 0..<5 { #expect((0..<4).map { _ in address(1500) } == first) }
    }

    @Test("need no more memory for frames twice as large as the first")
    func room() {
        var memory = OutputMemory(count: 4)
        func address(_ size: Int) -> UInt {
            let buffer = memory.makeBuffer(size: size) { $0.writeRepeatingByte(7, count: size) }
            return buffer.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
        }
        // The first are taken for unusually large ones.
        for _ in 0..<20 { _ = address(6000) }
        let first = (0..<4).map { _ in address(6000) }
        for size in [11_000, 7000, 12_000] { #expect((0..<4).map { _ in address(size) } == first) }
    }

    @Test("never share memory with a frame that is held")
    func heldMemory() {
        var memory = OutputMemory(count: 2)
        let held = memory.makeBuffer(size: 3) { $0.writeBytes([1, 2, 3]) }
        for _ in 0..<5 { _ = memory.makeBuffer(size: 3) { $0.writeBytes([9, 9, 9]) } }
        #expect(Array(held.readableBytesView) == [1, 2, 3])
    }
}

@Suite("A frame ledger")
struct FrameLedgerTests {
    private func ledger(_ count: Int) -> FrameLedger {
        var ledger = FrameLedger(capacity: 8)
        for number in 0..<count {
            _ = ledger.push(presentationTime: frameTime(number), duration: nil, token: FrameToken())
        }
        return ledger
    }

    @Test("answers each frame once")
    func once() {
        var ledger = ledger(5)
        #expect(ledger.answer(3)?.presentationTime == frameTime(3))
        #expect(ledger.answer(3) == nil)
        #expect(ledger.answer(5) == nil)
        #expect((0..<5).compactMap { _ in ledger.answerOldest()?.serial } == [0, 1, 2, 4])
        #expect(ledger.pendingCount == 0)
    }

    @Test("knows which frames wait, and since when frames were shown")
    func times() {
        var ledger = ledger(5)
        #expect(ledger.isPending(until: frameTime(0)))
        _ = ledger.answer(0)
        #expect(!ledger.isPending(until: frameTime(0)))
        #expect(ledger.isPending(until: frameTime(1)))
        #expect(ledger.firstFrame(from: frameTime(2)) == 2)
        #expect(ledger.firstFrame(from: frameTime(9)) == 5)
        #expect(ledger.firstFrame(from: .negativeInfinity) == 0)
    }

    @Test("forgets the oldest frames")
    func forgets() {
        let ledger = ledger(20)
        #expect(ledger.firstSerial == 12)
        #expect(ledger[11] == nil)
        #expect(ledger[12]?.presentationTime == frameTime(12))
        #expect(ledger.firstFrame(from: frameTime(0)) == 12)
    }
}

@Suite("A queue of outputs")
struct EncodeOutputQueueTests {
    /// Lives as long as somebody holds the output that it came with.
    private final class Witness: Hashable, Sendable {
        static func == (left: Witness, right: Witness) -> Bool { left === right }

        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }

    private func output(_ number: Int, _ witness: Witness) -> EncodeOutput {
        let format = VideoFormatDescription(
            parameterSets: [],
            properties: VideoFormatDescription.Properties(
                profileLevel: H264ProfileLevelID(.constrainedBaseline, level: .level31), dimensions: smallPicture,
                codedDimensions: smallPicture),
            meaning: witness)
        let sample = SampleBuffer(
            data: BlockBuffer(), format: format, presentationTime: frameTime(number), isSync: false)
        return EncodeOutput(
            presentationTime: frameTime(number), token: FrameToken(), result: .frame(EncodedFrame(sample: sample)))
    }

    @Test("lets go of an output that was taken, though another one always waits")
    func release() {
        let queue = EncodeOutputQueue()
        weak var first: Witness?
        do {
            let witness = Witness()
            first = witness
            queue.append(output(0, witness))
        }
        #expect(first != nil)
        for number in 1..<4 {
            queue.append(output(number, Witness()))
            #expect(queue.next()?.presentationTime == frameTime(number - 1))
        }
        #expect(first == nil)
        #expect(queue.next()?.presentationTime == frameTime(3))
        #expect(queue.next() == nil)
    }
}
