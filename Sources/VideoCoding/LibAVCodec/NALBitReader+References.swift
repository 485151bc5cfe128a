import H264

/// The part of a slice header that is about references (H.264 7.3.3). A result of nil or false means that the bits ran
/// out, or that no stream has them.
extension NALBitReader {
    /// The most commands of one kind: no list has as many references, nor a decoder as many fields.
    private static let commandLimit = 66

    /// The numbers of references in both lists, which a slice with references states or leaves to its PPS.
    mutating func referenceCounts(
        by picture: PictureParameterSet, hasSecondList: Bool
    ) -> (first: Int, second: Int)? {
        var counts = (first: picture.defaultReferenceCountL0, second: picture.defaultReferenceCountL1)
        guard let isOverridden = flag() else { return nil }
        guard isOverridden else { return counts }
        guard let first = unsigned(), first < 32 else { return nil }
        counts.first = Int(first) + 1
        guard hasSecondList else { return counts }
        guard let second = unsigned(), second < 32 else { return nil }
        counts.second = Int(second) + 1
        return counts
    }

    /// The modification of one list (7.3.3.1). `take` gets each `modification_of_pic_nums_idc` but the last.
    mutating func readListModification(_ take: (UInt32) -> Void = { _ in }) -> Bool {
        guard let isModified = flag() else { return false }
        guard isModified else { return true }
        for _ in 0..<Self.commandLimit {
            guard let command = unsigned(), command <= 3 else { return false }
            if command == 3 { return true }
            if unsigned() == nil { return false }
            take(command)
        }
        return false
    }

    /// Skips the weights of so many references (7.3.3.2).
    mutating func skipWeights(of count: Int, hasChroma: Bool) -> Bool {
        guard unsigned() != nil, !hasChroma || unsigned() != nil else { return false }
        for _ in 0..<count {
            guard skipOptionalNumbers(2), !hasChroma || skipOptionalNumbers(4) else { return false }
        }
        return true
    }

    /// Skips a flag and, if it is set, so many numbers.
    private mutating func skipOptionalNumbers(_ count: Int) -> Bool {
        guard let isPresent = flag() else { return false }
        for _ in 0..<(isPresent ? count : 0) where signed() == nil { return false }
        return true
    }

    /// The marking of references of a picture that is no IDR picture (7.3.3.3). `take` gets each
    /// `memory_management_control_operation` but the last, with its first number; operation 5 has none.
    mutating func readMarking(_ take: (_ operation: UInt32, _ number: UInt32?) -> Void) -> Bool {
        guard let isAdaptive = flag() else { return false }
        guard isAdaptive else { return true }
        for _ in 0..<Self.commandLimit {
            guard let operation = unsigned(), operation <= 6 else { return false }
            if operation == 0 { return true }
            let number = operation == 5 ? nil : unsigned()
            guard operation == 5 || number != nil, operation != 3 || unsigned() != nil else { return false }
            take(operation, number)
        }
        return false
    }
}
