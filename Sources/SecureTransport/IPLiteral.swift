internal import MediaCore

/// Text forms of IP addresses: dotted decimal, and IPv6 as RFC 4291, 2.2 reads and RFC 5952 writes it.
enum IPLiteral {
    static func parseIPv4(_ text: ArraySlice<UInt8>) -> UInt32? {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var address: UInt32 = 0
        for part in parts {
            guard (1...3).contains(part.count), part.count == 1 || part.first != UInt8(ascii: "0") else { return nil }
            var value: UInt32 = 0
            for byte in part {
                guard let digit = decimalDigit(byte) else { return nil }
                value = value * 10 + digit
            }
            guard value <= 255 else { return nil }
            address = address << 8 | value
        }
        return address
    }

    static func parseIPv6(_ text: ArraySlice<UInt8>) -> (UInt64, UInt64)? {
        var head: [UInt16] = []
        var tail: [UInt16] = []
        if let gap = gapIndex(text) {
            guard appendGroups(text[..<gap], allowIPv4: false, to: &head),
                appendGroups(text[(gap + 2)...], allowIPv4: true, to: &tail),
                head.count + tail.count <= 7
            else { return nil }
        } else {
            guard !text.isEmpty, appendGroups(text, allowIPv4: true, to: &head), head.count == 8 else { return nil }
        }
        let groups = head + [UInt16](repeating: 0, count: 8 - head.count - tail.count) + tail
        let high = groups[0..<4].reduce(UInt64(0)) { $0 << 16 | UInt64($1) }
        let low = groups[4..<8].reduce(UInt64(0)) { $0 << 16 | UInt64($1) }
        return (high, low)
    }

    static func formatIPv4(_ address: UInt32) -> String {
        "\(address >> 24).\(address >> 16 & 255).\(address >> 8 & 255).\(address & 255)"
    }

    static func formatIPv6(high: UInt64, low: UInt64) -> String {
        if high == 0, low >> 32 == 0xFFFF { return "::ffff:" + formatIPv4(UInt32(truncatingIfNeeded: low)) }
        let groups = [high, low].flatMap { half in
            [48, 32, 16, 0].map { UInt16(truncatingIfNeeded: half >> UInt64($0)) }
        }
        func text(_ groups: ArraySlice<UInt16>) -> String {
            groups.map { String($0, radix: 16) }.joined(separator: ":")
        }
        guard let gap = longestZeroRun(groups) else { return text(groups[...]) }
        return text(groups[..<gap.lowerBound]) + "::" + text(groups[gap.upperBound...])
    }

    /// The first of the longest runs of two or more zero groups.
    private static func longestZeroRun(_ groups: [UInt16]) -> Range<Int>? {
        var best: Range<Int>?
        var start = 0
        while start < groups.count {
            guard groups[start] == 0 else {
                start += 1
                continue
            }
            let end = groups[start...].firstIndex { $0 != 0 } ?? groups.count
            if end - start >= 2, end - start > (best?.count ?? 0) { best = start..<end }
            start = end
        }
        return best
    }

    private static func gapIndex(_ text: ArraySlice<UInt8>) -> Int? {
        text.indices.dropLast().first { text[$0] == UInt8(ascii: ":") && text[$0 + 1] == UInt8(ascii: ":") }
    }

    /// Appends the colon-separated groups of `text`, none when it is empty.
    private static func appendGroups(_ text: ArraySlice<UInt8>, allowIPv4: Bool, to groups: inout [UInt16]) -> Bool {
        guard !text.isEmpty else { return true }
        let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if allowIPv4, index == parts.count - 1, part.contains(UInt8(ascii: ".")) {
                guard let address = parseIPv4(part) else { return false }
                groups.append(UInt16(truncatingIfNeeded: address >> 16))
                groups.append(UInt16(truncatingIfNeeded: address))
            } else {
                guard (1...4).contains(part.count) else { return false }
                var value: UInt16 = 0
                for byte in part {
                    guard let digit = byte.hexadecimalDigitValue else { return false }
                    value = value << 4 | UInt16(digit)
                }
                groups.append(value)
            }
            guard groups.count <= 8 else { return false }
        }
        return true
    }

    private static func decimalDigit(_ byte: UInt8) -> UInt32? {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) ? UInt32(byte - UInt8(ascii: "0")) : nil
    }
}
