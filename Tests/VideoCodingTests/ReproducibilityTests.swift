import MediaCore
import Testing

@testable import VideoCoding

@Suite("An encoder's output")
struct ReproducibilityTests {
    @Test(
        "depends only on the pictures, not on earlier contents of memory",
        .enabled("the process has the C library's allocator") { fillFreshMemory(with: 0) })
    func reproducible() async {
        // In a process of its own: all its threads' memory is filled.
        await #expect(processExitsWith: .success) {
            for backEnd in backEnds {
                let streams = try [1, 85, 200].map { (pattern: Int32) in
                    #expect(fillFreshMemory(with: pattern))
                    return try Self.encodeAhead(backEnd)
                }
                #expect(streams[0].count == VaryingPattern.frameCount)
                #expect(streams.allSatisfy { $0 == streams[0] }, "\(backEnd)")
            }
        }
    }

    /// The frames of a session that looks ahead if the back end can.
    private static func encodeAhead(_ backEnd: EncoderBackEnd) throws -> [BlockBuffer] {
        let canLookAhead = backEnds(with: .allowFrameReordering).contains(backEnd)
        let encoder = try TestEncoder(backEnd, VaryingPattern.dimensions, profile: .high) {
            $0.realTime = !canLookAhead
            $0.allowFrameReordering = canLookAhead
        }
        for number in 0..<VaryingPattern.frameCount {
            let picture = VaryingPattern().picture(number)
            try encoder.session.encode(picture, presentationTime: frameTime(number))
        }
        encoder.session.completeFrames()
        return encoder.takeOutputs().compactMap { $0.frame?.sample.data }
    }
}

/// Makes the C library hand out memory filled with a value that depends on `pattern`; zero leaves the memory as it is.
///
/// - Returns: False where another allocator is in use, as AddressSanitizer's is.
private func fillFreshMemory(with pattern: Int32) -> Bool {
    let perturb: Int32 = -6
    return mallopt(perturb, pattern) == 1
}

/// `mallopt` (glibc's malloc.h), which Swift's Glibc module leaves out.
@_silgen_name("mallopt")
private func mallopt(_ parameter: Int32, _ value: Int32) -> Int32
