/// Decoded samples that wait to be played, in memory of a fixed size.
struct SampleQueue {
    private var storage: [Float]
    private var start = 0
    private(set) var count = 0

    init(capacity: Int) {
        storage = [Float](repeating: 0, count: capacity)
    }

    /// The number of samples that can be added.
    var space: Int { storage.count - count }

    /// Lets `body` write up to `maximum` samples after the last one. `body` returns the number that it wrote.
    ///
    /// If there is no room for `maximum` samples, nothing happens.
    @discardableResult
    mutating func append(
        maximum: Int, _ body: (UnsafeMutableBufferPointer<Float>) throws(OpusError) -> Int
    ) throws(OpusError) -> Int {
        guard maximum > 0, maximum <= space else { return 0 }
        if start + count + maximum > storage.count { moveToFront(leaving: 0) }
        let written = try storage.withUnsafeMutableBufferPointer { (all) throws(OpusError) in
            try body(UnsafeMutableBufferPointer(rebasing: all[(start + count)..<(start + count + maximum)]))
        }
        count += min(max(written, 0), maximum)
        return written
    }

    /// Adds `number` zeros, or as many as fit.
    mutating func appendSilence(_ number: Int) {
        let number = min(number, space)
        guard number > 0 else { return }
        if start + count + number > storage.count { moveToFront(leaving: 0) }
        storage.withUnsafeMutableBufferPointer {
            $0[(start + count)..<(start + count + number)].update(repeating: 0)
        }
        count += number
    }

    /// Inserts samples before the first one. Nothing happens if they do not fit.
    mutating func prepend(_ samples: ArraySlice<Float>) {
        guard samples.count <= space else { return }
        if start < samples.count { moveToFront(leaving: samples.count) }
        start -= samples.count
        count += samples.count
        storage.replaceSubrange(start..<(start + samples.count), with: samples)
    }

    mutating func removeFirst(_ number: Int) {
        let number = min(max(number, 0), count)
        start += number
        count -= number
    }

    /// Drops the first `dropping` of the last `length` samples.
    ///
    /// The dropped samples continue those before them, and the kept ones do not. So the dropped samples are cross-faded
    /// into the kept ones.
    mutating func removeMiddle(ofLast length: Int, dropping: Int) {
        let length = min(max(length, 0), count)
        let dropped = min(max(dropping, 0), length)
        guard dropped > 0 else { return }
        let overlap = min(TimeScaling.overlap, dropped, length - dropped)
        withSamples { samples in
            let start = samples.count - length
            for index in 0..<overlap {
                samples[start + index] = TimeScaling.crossFade(
                    samples[start + index], samples[start + dropped + index], at: index, of: overlap)
            }
            for index in overlap..<(length - dropped) { samples[start + index] = samples[start + dropped + index] }
        }
        count -= dropped
    }

    /// Calls `body` with the waiting samples.
    mutating func withSamples<Result>(_ body: (UnsafeMutableBufferPointer<Float>) -> Result) -> Result {
        storage.withUnsafeMutableBufferPointer {
            body(UnsafeMutableBufferPointer(rebasing: $0[start..<(start + count)]))
        }
    }

    /// Moves the first samples to `output` and fills the rest with zeros.
    mutating func read(into output: inout [Float]) {
        let available = min(count, output.count)
        output.withUnsafeMutableBufferPointer { output in
            storage.withUnsafeBufferPointer { all in
                for index in 0..<available { output[index] = all[start + index] }
            }
            for index in available..<output.count { output[index] = 0 }
        }
        removeFirst(available)
    }

    /// Moves the samples so that `free` places are before the first one.
    private mutating func moveToFront(leaving free: Int) {
        let (from, count) = (start, count)
        storage.withUnsafeMutableBufferPointer { all in
            guard let base = all.baseAddress else { return }
            (base + free).update(from: base + from, count: count)
        }
        start = free
    }
}
