import Compositing
import H264
import MediaCore
import Testing
import VideoCoding

@testable import Conference

/// The decoding budget of each member, and of all members together.
@Suite struct DecodeBudgetTests {
    private static let huge = format(4096, 2304)
    private static let usual = format(640, 368)

    private static func format(_ width: Int, _ height: Int, references: Int = 1) -> VideoFormatDescription {
        let size = VideoDimensions(width: width, height: height)
        var properties = VideoFormatDescription.Properties(
            profileLevel: .init(profileIDC: 66, constraintFlags: 0xC0, levelIDC: 51), dimensions: size,
            codedDimensions: size)
        properties.maximumReferenceFrames = references
        return VideoFormatDescription(parameterSets: [], properties: properties)
    }

    private func request(
        _ id: UInt64, _ format: VideoFormatDescription = usual, level: H264Level? = nil,
        content: CodedPictureCount = CodedPictureCount()
    ) -> DecodeBudget.Request {
        DecodeBudget.Request(
            source: .camera(ParticipantID(rawValue: id)), format: format, level: level, content: content,
            size: DataSize(bytes: 8))
    }

    private func instant(_ seconds: Double) -> MonotonicInstant { .zero + .seconds(10 + seconds) }

    @Test func `a flood of pictures of skipped macroblocks is decoded at the member's rate at most`() {
        let limits = DecodeLimits(workers: 2)
        let budget = DecodeBudget(limits: limits)
        var samples = 0.0
        for frame in 0..<640 {
            let request = request(1, Self.huge)
            if budget.admit(request, now: instant(Double(frame) / 64)) == nil { samples += request.samples }
        }
        #expect(samples <= limits.memberSampleRate * 11)
        #expect(samples >= limits.memberSampleRate * 9.5)
        #expect(budget.refused[.memberRate] ?? 0 > 300)
        let share = budget.sustainableShare(of: 1, now: instant(10))
        #expect(share > 0.3 && share < 0.5, "the sender is asked for what can be decoded of it")
        #expect(budget.sustainableShare(of: 1, now: instant(20)) == 1)
    }

    @Test func `members with usual video lose nothing while others use up what is there for all`() {
        let limits = DecodeLimits(workers: 1)
        let budget = DecodeBudget(limits: limits)
        var flood = 0.0
        var refused = 0
        for frame in 0..<600 {
            let now = instant(Double(frame) / 60)
            for id in 1...4 as ClosedRange<UInt64> {
                let request = request(id, Self.huge)
                if budget.admit(request, now: now) == nil { flood += request.samples }
            }
            guard frame.isMultiple(of: 2) else { continue }
            for id in 5...14 as ClosedRange<UInt64> where budget.admit(request(id), now: now) != nil { refused += 1 }
        }
        #expect(refused == 0)
        #expect(flood <= limits.totalSampleRate * 12)
        #expect(budget.refused[.totalRate] ?? 0 > 0)
    }

    @Test func `each picture of a frame is paid for, and a frame with more slices than rows of macroblocks is refused`()
    {
        let budget = DecodeBudget(limits: DecodeLimits(workers: 2))
        let many = request(1, Self.huge, content: CodedPictureCount(pictures: 27, slices: 27))
        #expect(many.samples == 27 * 4096 * 2304)
        #expect(budget.admit(many, now: instant(0)) == nil)
        #expect(budget.admit(request(1, Self.huge), now: instant(0.01)) == .memberRate)
        let sliced = request(2, Self.huge, content: CodedPictureCount(pictures: 1, slices: 200))
        #expect(budget.admit(sliced, now: instant(0)) == .slices)
        var large = sliced
        large.size = DataSize(bytes: 100_000)
        #expect(budget.admit(large, now: instant(0)) == nil)
    }

    @Test func `the negotiated level bounds the size of pictures and their rate`() {
        let budget = DecodeBudget(limits: DecodeLimits(workers: 2))
        let level = H264Level(negotiated: 40)
        #expect(budget.admit(request(1, Self.huge, level: level), now: instant(0)) == .level)
        let fullHD = Self.format(1920, 1088)
        var admitted = 0
        for frame in 0..<600 {
            let now = instant(Double(frame) / 60)
            if budget.admit(request(2, fullHD, level: level), now: now) == nil { admitted += 1 }
        }
        #expect((300...335).contains(admitted))
        // Software offers level 3.1 by default, whatever it sends.
        #expect(H264Level(negotiated: 31) == level)
        #expect(H264Level(negotiated: 52).levelIDC == 52)
        #expect(H264Level(negotiated: 7).levelIDC == 51)
    }

    @Test func `memory for pictures is bounded for a member and for all, and the last half is for usual sizes`() {
        let budget = DecodeBudget(limits: DecodeLimits(workers: 8))
        let large = Self.format(4096, 2304, references: 12)
        var refusals: [DecodeRefusal?] = []
        for id in 1...10 as ClosedRange<UInt64> { refusals.append(budget.admit(request(id, large), now: instant(0))) }
        #expect(refusals.prefix(5).allSatisfy { $0 == nil })
        #expect(refusals.suffix(4).allSatisfy { $0 == .memory })
        var screen = request(1, large)
        screen.source = .screenShare(1)
        #expect(budget.admit(screen, now: instant(0)) == .memory, "camera and screen share are one member's")
        for id in 20...80 as ClosedRange<UInt64> {
            #expect(budget.admit(request(id, Self.format(1280, 720)), now: instant(0)) == nil)
        }
        for id in 1...80 as ClosedRange<UInt64> { budget.remove(ParticipantID(rawValue: id)) }
        #expect(budget.memory == .zero)
    }

    @Test func `formats change a few times at once and then every two seconds`() {
        let budget = DecodeBudget(limits: DecodeLimits(workers: 2))
        let formats = [Self.usual, Self.format(320, 192)]
        var changes = 0
        var last = 0
        for frame in 0..<300 {
            let next = 1 - last
            if budget.admit(request(1, formats[next]), now: instant(Double(frame) / 30)) == nil {
                last = next
                changes += 1
            }
        }
        #expect((12...15).contains(changes))
        #expect(budget.refused[.formatChanges] ?? 0 > 250)
    }

    @Test func `a member whose frames take long waits until the time is paid`() {
        let budget = DecodeBudget(limits: DecodeLimits(workers: 2))
        #expect(budget.admit(request(1), now: instant(0)) == nil)
        budget.charge(.seconds(2), to: 1, now: instant(0))
        #expect(budget.admit(request(1), now: instant(1)) == .time)
        #expect(budget.admit(request(2), now: instant(1)) == nil)
        #expect(budget.admit(request(1), now: instant(3.1)) == nil)
    }

    @Test func `where the relay is short of time, no member takes more than an equal part of the time for decoding`() {
        let limits = DecodeLimits(workers: 4)
        func decodes(isShortOfTime: Bool) -> (flood: Double, refused: Int) {
            let budget = DecodeBudget(limits: limits)
            budget.isShortOfTime = isShortOfTime
            var (flood, refused) = (0.0, 0)
            // Each picture of skipped macroblocks takes 40 ms, and one of a camera 2 ms.
            for frame in 0..<300 {
                let now = instant(Double(frame) / 30)
                for id in 2...20 as ClosedRange<UInt64> {
                    if budget.admit(request(id), now: now) == nil {
                        budget.charge(.milliseconds(2), to: ParticipantID(rawValue: id), now: now)
                    } else {
                        refused += 1
                    }
                }
                guard budget.admit(request(1, Self.huge), now: now) == nil else { continue }
                budget.charge(.milliseconds(40), to: 1, now: now)
                flood += 0.04
            }
            return (flood / 10, refused)
        }
        let (free, short) = (decodes(isShortOfTime: false), decodes(isShortOfTime: true))
        #expect(free.flood > 0.9, "idle workers may decode it")
        #expect(short.flood < 0.15, "two workers' time for 20 members")
        #expect(free.refused == 0 && short.refused == 0)
    }

    @Test func `a field is paid for as half of a picture`() {
        let pair = request(1, content: CodedPictureCount(pictures: 2, fields: 2, slices: 2))
        #expect(pair.samples == request(1).samples)
        #expect(request(1, content: CodedPictureCount(pictures: 1, fields: 1)).samples == request(1).samples / 2)
        #expect(request(1, content: CodedPictureCount(pictures: 3, fields: 90)).samples == request(1).samples * 1.5)
        #expect(request(1, content: CodedPictureCount(pictures: -1, fields: -1)).samples == request(1).samples)
    }

    @Test func `a stream that has ended gives its memory back, and another one counts as a change of format`() {
        let budget = DecodeBudget(limits: DecodeLimits(workers: 2))
        #expect(budget.admit(request(1), now: instant(0)) == nil)
        let used = budget.memory
        #expect(used > .zero)
        budget.end(.camera(1))
        #expect(budget.memory == .zero)
        budget.end(.camera(1))
        budget.end(.screenShare(7))
        #expect(budget.memory == .zero)
        var begun = 0
        for _ in 0..<20 {
            if budget.admit(request(1), now: instant(0)) == nil { begun += 1 }
            budget.end(.camera(1))
        }
        #expect(begun == 8)
        #expect(budget.memory == .zero)
        #expect(budget.admit(request(1), now: instant(3)) == nil)
        budget.remove(1)
        #expect(budget.memory == .zero)
    }

    @Test func `frames of a flood are due behind encodes, and those of usual video before`() {
        let budget = DecodeBudget(limits: DecodeLimits(workers: 2))
        let interval = Duration.milliseconds(33)
        for id in 1...4 as ClosedRange<UInt64> { _ = budget.admit(request(id, Self.huge), now: instant(0)) }
        var due = instant(0)
        for _ in 0..<3 { due = budget.deadline(of: 1, samples: 9.4e6, now: instant(0)) }
        #expect(due > instant(0) + interval * 2, "an encode's deadline is two ticks away")
        _ = budget.admit(request(9), now: instant(0))
        #expect(budget.deadline(of: 9, samples: 640 * 368, now: instant(0)) < instant(0) + interval)
        for _ in 0..<1000 { due = budget.deadline(of: 1, samples: 1e12, now: instant(0)) }
        #expect(due <= instant(1), "frames at one time are due within a second")
        // It never falls behind for good.
        for _ in 0..<1000 { due = budget.deadline(of: 1, samples: 1e12, now: due) }
        #expect(budget.deadline(of: 9, samples: 1, now: due + .seconds(1)) <= due + .seconds(1.1))
    }
}
