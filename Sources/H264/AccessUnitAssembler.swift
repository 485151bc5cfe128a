/// Divides a sequence of NAL units into access units, for streams that do not tell: Annex B files and pipes
/// (H.264 7.4.1.2.3, 7.4.1.2.4).
///
/// An access unit is known to be whole only when the first NAL unit of the next is there.
public struct AccessUnitAssembler: Sendable {
    /// The most bytes and NAL units of an access unit; one that goes beyond is cut in two.
    private static let maximumSize = 64 << 20
    private static let maximumCount = 65536

    private var parameterSets = ParameterSetStore()
    private var current: [NALUnit] = []
    private var currentSize = 0
    /// The first slice of the current primary picture, if its header could be parsed.
    private var firstSlice: SliceHeader?
    private var hasPrimaryPicture = false
    /// True if the current unit has an end of sequence or of stream, after which nothing of the same unit may follow.
    private var isEnded = false
    /// A prefix NAL unit, which belongs to the slice behind it.
    private var prefix: NALUnit?

    public init() {}

    /// Takes the next NAL unit, and returns the access unit before it when this one begins another.
    public mutating func append(_ nalUnit: NALUnit) -> [NALUnit]? {
        if nalUnit.type == .prefix && hasPrimaryPicture && !isEnded && prefix == nil {
            prefix = nalUnit
            return nil
        }
        let slice = try? SliceHeader(parsing: nalUnit, parameterSets: parameterSets)
        let completed = beginsAccessUnit(nalUnit, slice: slice) ? closeUnit() : nil
        takePrefix()
        current.append(nalUnit)
        currentSize += nalUnit.count
        if nalUnit.type.hasSliceHeader && slice?.isRedundant != true {
            hasPrimaryPicture = true
            firstSlice = firstSlice ?? slice
        }
        isEnded = nalUnit.type == .endOfSequence || nalUnit.type == .endOfStream
        // A set that cannot be parsed leaves its slices unparsed too; those are judged by first_mb_in_slice.
        _ = try? parameterSets.insert(nalUnit)
        return completed
    }

    /// Ends the stream, and returns the last access unit.
    public mutating func finish() -> [NALUnit]? {
        takePrefix()
        return current.isEmpty ? nil : closeUnit()
    }

    private func beginsAccessUnit(_ nalUnit: NALUnit, slice: SliceHeader?) -> Bool {
        guard !current.isEmpty else { return false }
        if isEnded { return nalUnit.type != .endOfStream }
        if currentSize >= Self.maximumSize || current.count >= Self.maximumCount { return true }
        guard hasPrimaryPicture else { return false }
        switch nalUnit.type {
        case .sei, .sequenceParameterSet, .pictureParameterSet, .accessUnitDelimiter, .subsetSequenceParameterSet,
            .depthParameterSet, .reserved17, .reserved18:
            return true
        case let type where type.hasSliceHeader:
            guard let slice else { return nalUnit.beginsPicture }
            if slice.isRedundant { return false }
            return firstSlice?.isOfOtherPicture(than: slice) ?? nalUnit.beginsPicture
        default:
            return false
        }
    }

    private mutating func takePrefix() {
        guard let prefix else { return }
        current.append(prefix)
        currentSize += prefix.count
        self.prefix = nil
    }

    private mutating func closeUnit() -> [NALUnit] {
        defer {
            current = []
            currentSize = 0
            firstSlice = nil
            hasPrimaryPicture = false
            isEnded = false
        }
        return current
    }
}
