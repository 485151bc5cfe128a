#if X264
    import MediaCore
    import NIOCore
    import Testing

    @testable import VideoCoding

    /// A stream with B-frames between references, in decoding order.
    func makeReorderedStream(
        frames: Int, dimensions: VideoDimensions = smallPicture, profile: H264Profile = .main
    ) throws -> [SampleBuffer] {
        let encoder = try TestEncoder(.x264, dimensions, profile: profile) {
            $0.realTime = false
            $0.allowFrameReordering = true
        }
        let pattern = MovingPattern(dimensions)
        for number in 0..<frames {
            try encoder.session.encode(pattern.picture(number), presentationTime: frameTime(number))
        }
        encoder.session.completeFrames()
        let samples = encoder.takeOutputs().compactMap { $0.frame?.sample }
        try #require(samples.count == frames && samples[0].format.reorderDepth > 0)
        return samples
    }

    @Suite("A stream with B-frames")
    struct ReorderingTests {
        @Test("comes out in presentation order, each frame answered once")
        func presentationOrder() throws {
            let samples = try makeReorderedStream(frames: 40)
            #expect(samples.map(\.presentationTime) != samples.map(\.presentationTime).sorted())
            let decoder = try TestDecoder(format: samples[0].format)
            let outputs = samples.flatMap { decoder.decode($0) } + decoder.finishDelayedFrames()
            #expect(outputs.compactMap { $0.picture?.presentationTime } == (0..<40).map(frameTime))
        }

        @Test("has each frame answered once though some are broken")
        func brokenFrames() throws {
            let samples = try makeReorderedStream(frames: 40)
            let decoder = try TestDecoder(format: samples[0].format)
            var answered: [UInt64] = []
            for (number, sample) in samples.enumerated() {
                var sample = sample
                if number % 5 == 4 { sample.data = BlockBuffer(ByteBuffer(bytes: [0, 0, 0, 3, 0x41, 0xFF, 0xFF])) }
                answered += decoder.decode(sample, token: FrameToken(UInt64(number))).map(\.token.rawValue)
            }
            answered += decoder.finishDelayedFrames().map(\.token.rawValue)
            #expect(answered.sorted() == Array(0..<40))
        }

        @Test("comes out as soon as its reorder depth allows")
        func delay() throws {
            let samples = try makeReorderedStream(frames: 40)
            let depth = samples[0].format.reorderDepth
            let decoder = try TestDecoder(format: samples[0].format)
            var answered = 0
            for (number, sample) in samples.enumerated() {
                answered += decoder.decode(sample).count
                #expect(answered == max(0, number + 1 - depth))
            }
        }

        @Test("is drained in order at the keyframe of a smaller picture, by the session itself")
        func smallerPicture() throws {
            let large = try makeReorderedStream(frames: 20, dimensions: mediumPicture)
            let small = try makeReorderedStream(frames: 20)
            let decoder = try TestDecoder(format: large[0].format)
            #expect(decoder.canAccept(small[0].format) == .accept)
            let outputs = (large + small).flatMap { decoder.decode($0) } + decoder.finishDelayedFrames()
            let times = (0..<20).map(frameTime)
            #expect(outputs.compactMap { $0.picture?.presentationTime } == times + times)
            let sizes = outputs.compactMap { $0.picture?.pixelBuffer.dimensions }
            #expect(sizes == Array(repeating: mediumPicture, count: 20) + Array(repeating: smallPicture, count: 20))
        }
    }
#endif
