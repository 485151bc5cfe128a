package import MediaCore

extension SeededGenerator {
    /// Changes a few bytes: flips, cuts, repeats, inserts.
    package mutating func mutate(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &self) {
            guard !bytes.isEmpty else { break }
            let index = Int.random(in: 0..<bytes.count, using: &self)
            let end = min(bytes.count, index + Int.random(in: 1...24, using: &self))
            switch Int.random(in: 0..<6, using: &self) {
            case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &self)
            case 1: bytes[index] = UInt8(truncatingIfNeeded: next())
            case 2: bytes.removeSubrange(index..<end)
            case 3: bytes.insert(contentsOf: bytes[index..<end], at: index)
            case 4: bytes.removeLast(bytes.count - index)
            default: bytes.insert(UInt8(truncatingIfNeeded: next()), at: index)
            }
        }
        return bytes
    }
}
