/// Adds all frames once and subtracts each listener's own, so that the work grows with the number of people, not with
/// its square.
public struct AudioMixer: Sendable {
    private var total = [Float](repeating: 0, count: AudioFormat.frameSampleCount)
    /// The number of frames in the sum.
    public private(set) var contributorCount = 0

    public init() {}

    /// Begins the next frame with an empty sum.
    public mutating func begin() {
        contributorCount = 0
    }

    /// Adds a frame of `AudioFormat.frameSampleCount` samples.
    public mutating func add(_ frame: [Float]) {
        precondition(frame.count == total.count, "a mixer takes frames of \(total.count) samples")
        let isFirst = contributorCount == 0
        contributorCount += 1
        total.withUnsafeMutableBufferPointer { total in
            frame.withUnsafeBufferPointer { frame in
                if isFirst {
                    for index in 0..<total.count { total[index] = frame[index] }
                } else {
                    for index in 0..<total.count { total[index] += frame[index] }
                }
            }
        }
    }

    /// Writes the sum to `output`, without `own` if the listener's frame was added.
    ///
    /// - Returns: True if anyone else was added. Otherwise `output` is silence.
    @discardableResult
    public func mix(without own: [Float]?, into output: inout [Float]) -> Bool {
        precondition(output.count == total.count, "a mixer makes frames of \(total.count) samples")
        let hasOthers = contributorCount > (own == nil ? 0 : 1)
        output.withUnsafeMutableBufferPointer { output in
            guard hasOthers else {
                output.update(repeating: 0)
                return
            }
            total.withUnsafeBufferPointer { total in
                guard let own, own.count == total.count else {
                    for index in 0..<total.count { output[index] = total[index] }
                    return
                }
                own.withUnsafeBufferPointer { own in
                    for index in 0..<total.count { output[index] = total[index] - own[index] }
                }
            }
        }
        return hasOthers
    }
}
