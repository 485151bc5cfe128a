import MediaCore
import NIOCore
import Testing
import VideoCoding

@testable import ConferenceClient

@Suite("Clips of load clients")
struct ClipTests {
    @Test("a clip begins with a keyframe wherever it is entered, and repeats")
    func clip() throws {
        let clip = try PreEncodedClip.make(
            name: "Load", dimensions: VideoDimensions(width: 160, height: 96), frameRate: 5, bitRate: .kilobits(100),
            backEnd: .openH264, seconds: 2)
        #expect(clip.samples.count(where: \.isSync) == 2)
        for offset in 0..<3 {
            let source = ClipSource(clips: [clip], offset: offset)
            let first = try source.nextFrame(wallClockMilliseconds: 0)
            guard case .encoded(let sample) = first.content else {
                Issue.record("not encoded")
                return
            }
            #expect(sample.isSync)
            #expect(first.duration == .milliseconds(200))
            for _ in 0..<20 { _ = try source.nextFrame(wallClockMilliseconds: 0) }
        }
    }

    @Test("a clip that nobody waits for any more is not made to its end")
    func cancelled() async {
        let making = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try PreEncodedClip.make(
                name: "Load", dimensions: VideoDimensions(width: 160, height: 96), frameRate: 5,
                bitRate: .kilobits(100), backEnd: .openH264, seconds: 60)
        }
        await #expect(throws: CancellationError.self) { try await making.value }
    }

    @Test("a clip in several sizes changes to the one that its tile needs, with a keyframe")
    func clipSizes() throws {
        let sizes = [VideoDimensions(width: 320, height: 192), VideoDimensions(width: 160, height: 96)]
        let clips = try sizes.map { size in
            try PreEncodedClip.make(
                name: "Load", dimensions: size, frameRate: 5, bitRate: .kilobits(100), backEnd: .openH264, seconds: 2)
        }
        let source = ClipSource(clips: clips)
        _ = try source.nextFrame(wallClockMilliseconds: 0)
        source.fit(VideoDimensions(width: 150, height: 90))
        var seen: [(VideoDimensions, isSync: Bool)] = []
        for _ in 0..<10 {
            guard case .encoded(let sample) = try source.nextFrame(wallClockMilliseconds: 0).content else { continue }
            seen.append((sample.format.dimensions, sample.isSync))
        }
        let change = try #require(seen.firstIndex { $0.0 == sizes[1] })
        #expect(seen[change].isSync)
        #expect(seen[change...].allSatisfy { $0.0 == sizes[1] })
    }

    @Test("a second of audio is fifty packets, over and over")
    func audio() throws {
        let clip = try OpusClipSource.makeClip(name: "Load")
        #expect(clip.count == 50)
        let source = OpusClipSource(clip: clip)
        let packets = try (0..<100).map { _ in try source.nextPacket().payload }
        #expect(Array(packets.prefix(50)) == Array(packets.suffix(50)))
        #expect(
            clip.allSatisfy {
                $0.level.decibelsBelowOverload > 10 && $0.level.decibelsBelowOverload < 40 && $0.level.isVoice
            })
    }
}
