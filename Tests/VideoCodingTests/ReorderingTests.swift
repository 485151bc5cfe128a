#if X264
    import H264
    import MediaCore
    import NIOCore
    import Testing

    @testable import VideoCoding

    @Suite("A stream with B-frames")
    struct ReorderingTests {
        @Test("comes out in presentation order, each frame answered once")
        func presentationOrder() throws {
            let samples = try makeReorderedStream(frames: 40)
            #expect(samples[0].format.reorderDepth > 0)
            #expect(samples.map(\.presentationTime) != samples.map(\.presentationTime).sorted())
            let decoder = try TestDecoder(format: samples[0].format)
            var outcomes = samples.flatMap { decoder.decode($0) }
            outcomes += decoder.finishDelayedFrames()
            let shown = outcomes.compactMap { $0.picture?.presentationTime }
            #expect(outcomes.count == samples.count)
            #expect(shown == (0..<40).map(frameTime))
        }

        @Test("has each frame answered once though some are broken")
        func brokenFrames() throws {
            let samples = try makeReorderedStream(frames: 40)
            let decoder = try TestDecoder(format: samples[0].format)
            var answered = 0
            for (number, sample) in samples.enumerated() {
                var sample = sample
                if number % 5 == 4 { sample.data = BlockBuffer(ByteBuffer(bytes: [0, 0, 0, 3, 0x41, 0xFF, 0xFF])) }
                answered += decoder.decode(sample).count
            }
            answered += decoder.finishDelayedFrames().count
            #expect(answered == samples.count)
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

        @Test("is drained in order at the key frame of a smaller picture, by the session itself")
        func smallerPicture() throws {
            let large = try makeReorderedStream(frames: 20, dimensions: mediumPicture)
            let small = try makeReorderedStream(frames: 20)
            let decoder = try TestDecoder(format: large[0].format)
            #expect(decoder.canAccept(small[0].format) == .accept)
            let outputs = (large + small).flatMap { decoder.decode($0) } + decoder.finishDelayedFrames()
            #expect(
                outputs.compactMap { $0.picture?.presentationTime } == (0..<20).map(frameTime) + (0..<20).map(frameTime)
            )
            let sizes = outputs.compactMap { $0.picture?.pixelBuffer.dimensions }
            #expect(sizes == Array(repeating: mediumPicture, count: 20) + Array(repeating: smallPicture, count: 20))
        }
    }
#endif
