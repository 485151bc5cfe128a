import MediaCore
import Testing

@testable import VideoCoding

@Suite("A pass", .enabled(if: EncoderBackEnd.x264.isBuilt))
struct PassContractTests {
    private let bitRate = BitRate.kilobits(250)

    @Test("continues in another process where the first pass was interrupted")
    func resumedFirstPass() throws {
        let folder = try TemporaryFolder()
        var recording: Recording? = try Recording(bitRate: bitRate, folder: folder)
        try recording?.session.beginPass()
        for number in 0..<100 { try recording?.encode(number) }
        // The recording is dropped without being ended, as if the process had died.
        recording = nil
        let again = try Recording(bitRate: bitRate, folder: folder)
        let numbers = again.numbersOfNextPass
        #expect(numbers.count < VaryingPattern.frameCount)
        #expect(numbers.first.map { $0 > 0 && $0 < 100 } == true)
        let results = try again.makeAllPasses()
        #expect(results[0].framesEncoded == numbers.count)
        #expect(results[0].frameCount == VaryingPattern.frameCount)
        let last = try #require(results.last)
        #expect(abs(Double(last.size.bytes) / Double(last.targetSize.bytes) - 1) < 0.01)
        #expect(try again.similarity() > 0.8)
    }

    @Test("that was interrupted comes out as if it had not been")
    func resumedLaterPass() throws {
        let whole = try Recording(bitRate: bitRate)
        _ = try whole.makeAllPasses()
        let folder = try TemporaryFolder()
        var recording: Recording? = try Recording(bitRate: bitRate, folder: folder)
        _ = try recording?.makePass()
        let asked = try #require(recording?.numbersOfNextPass)
        if let recording { try recording.silo.setTimeRangesForNextPass(recording.session.timeRangesForNextPass) }
        try recording?.session.beginPass()
        for number in asked.prefix(asked.count * 2 / 3) { try recording?.encode(number) }
        recording = nil
        let again = try Recording(bitRate: bitRate, folder: folder)
        #expect(again.numbersOfNextPass.count < asked.count)
        _ = try again.makeAllPasses()
        let (left, right) = (try whole.silo.samples(), try again.silo.samples())
        #expect(left.map(\.data) == right.map(\.data))
        #expect(left.map(\.presentationTime) == right.map(\.presentationTime))
        #expect(left.map(\.decodeTime) == right.map(\.decodeTime))
    }

    @Test("is refused with a storage of another recording")
    func mismatch() throws {
        let folder = try TemporaryFolder()
        var recording: Recording? = try Recording(bitRate: bitRate, folder: folder)
        _ = try recording?.makePass()
        recording = nil
        let other = try Recording(bitRate: .kilobits(300), folder: folder)
        #expect {
            try other.session.beginPass()
        } throws: { error in
            if case .multiPass(.mismatch(property: "averageBitRate", _, _)) = error as? VideoCodingError {
                true
            } else {
                false
            }
        }
    }

    @Test("takes the frames that were asked for, all of them and no others")
    func frames() throws {
        let recording = try Recording(bitRate: bitRate)
        _ = try recording.makePass()
        let numbers = recording.numbersOfNextPass
        let first = try #require(numbers.first)
        try recording.session.beginPass()
        #expect(throws: VideoCodingError.multiPass(.framesMissing(count: 1, first: frameTime(first)))) {
            try recording.encode(first + 1)
        }
        let beyond = MediaTime(value: 1000, timescale: 1)
        #expect(throws: VideoCodingError.multiPass(.outsideTimeRanges(beyond))) {
            try recording.session.encode(VaryingPattern().picture(0), presentationTime: beyond)
        }
        try recording.encode(first)
        #expect(
            throws: VideoCodingError.multiPass(
                .framesMissing(count: numbers.count - 1, first: frameTime(numbers[1])))
        ) {
            _ = try recording.session.endPass()
        }
        // The pass continues.
        for number in numbers.dropFirst() { try recording.encode(number) }
        #expect(try recording.session.endPass().framesEncoded == numbers.count)
        #expect(recording.takeOutputs().count == VaryingPattern.frameCount + numbers.count)
    }

    @Test("has a beginning and an end")
    func order() throws {
        let recording = try Recording(bitRate: bitRate)
        #expect(throws: VideoCodingError.multiPass(.noPass)) { try recording.encode(0) }
        #expect(throws: VideoCodingError.multiPass(.noPass)) { _ = try recording.session.endPass() }
        #expect(recording.session.timeRangesForNextPass == [.all])
        try recording.session.beginPass()
        #expect(throws: VideoCodingError.multiPass(.passNotEnded)) { try recording.session.beginPass() }
        for number in 0..<30 { try recording.encode(number) }
        #expect(throws: VideoCodingError.propertyNotChangeable(.averageBitRate)) {
            try recording.session.set(\.averageBitRate, to: .kilobits(100))
        }
        var result = try recording.session.endPass()
        while result.furtherPassesRequested {
            try recording.session.beginPass()
            for number in recording.numbersOfNextPass { try recording.encode(number) }
            result = try recording.session.endPass()
        }
        #expect(throws: VideoCodingError.multiPass(.noFurtherPassRequested)) { try recording.session.beginPass() }
        recording.session.invalidate()
        #expect(throws: VideoCodingError.sessionInvalidated) { try recording.session.beginPass() }
    }

    @Test("may be without frames")
    func empty() throws {
        let recording = try Recording(bitRate: bitRate)
        try recording.session.beginPass()
        let result = try recording.session.endPass()
        #expect(result.frameCount == 0)
        #expect(!result.furtherPassesRequested)
    }

    @Test("continues after frames were completed")
    func completing() throws {
        let recording = try Recording(bitRate: bitRate)
        try recording.session.beginPass()
        for number in 0..<VaryingPattern.frameCount {
            try recording.encode(number)
            guard [0, 47, 48].contains(number) else { continue }
            recording.session.completeFrames()
            #expect(recording.takeOutputs().map(\.presentationTime).max() == frameTime(number))
        }
        #expect(try recording.session.endPass().frameCount == VaryingPattern.frameCount)
        // Keyframes in a row, each by an encoder of its own.
        try expectDistinctKeyframes(recording.silo.samples())
        let before = try recording.silo.samples().filter(\.isSync).map(\.presentationTime)
        #expect(before.prefix(2) == [frameTime(0), frameTime(1)])
        try recording.silo.setTimeRangesForNextPass(recording.session.timeRangesForNextPass)
        let numbers = recording.numbersOfNextPass
        try recording.session.beginPass()
        for (index, number) in numbers.enumerated() {
            try recording.encode(number)
            if index == 5 { recording.session.completeFrames() }
        }
        _ = try recording.session.endPass()
        let after = try recording.silo.samples()
        #expect(after.filter(\.isSync).map(\.presentationTime) == before)
        #expect(try libavcodecPictures(after).count == VaryingPattern.frameCount)
    }

    @Test("is for x264, for recordings and for an average rate")
    func support() throws {
        #expect(CompressionSession.supportedProperties(of: .openH264)[.multiPassStorage] == nil)
        #expect(CompressionSession.supportedProperties(of: .x264)[.multiPassStorage]?.canChangeWhileEncoding == false)
        #expect(CompressionSession.supportedProperties(of: .x264)[.multiPassStorage]?.backEnds == [.x264])
        let storage = try MultiPassStorage()
        func refuses(_ backEnd: EncoderBackEnd, _ change: (inout CompressionProperties) -> Void) -> Bool {
            var properties = Recording.properties(bitRate)
            properties.multiPassStorage = storage
            if backEnd == .openH264 { properties = CompressionProperties(averageBitRate: bitRate) }
            change(&properties)
            do {
                _ = try TestEncoder(backEnd, VaryingPattern.dimensions, properties)
                return false
            } catch {
                guard case .propertyNotSupported(.multiPassStorage, _) = error as? VideoCodingError else {
                    return false
                }
                return true
            }
        }
        #expect(!refuses(.x264) { _ in })
        #expect(refuses(.openH264) { $0.multiPassStorage = storage })
        #expect(
            refuses(.x264) {
                $0.realTime = true
                $0.allowFrameReordering = false
            })
        #expect(refuses(.x264) { $0.rateControlMode = .constrainedVariable })
        #expect(refuses(.x264) { $0.maxFrameBytes = DataSize(bytes: 10_000) })
        #expect(
            refuses(.x264) { $0.dataRateLimits = [DataRateLimit(size: DataSize(bytes: 90_000), window: .seconds(1))] })
    }
}
