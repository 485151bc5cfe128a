import H264
import MediaCore
import NIOCore

/// The format in a decoder, and facts that follow from it.
struct ActiveFormat {
    var format: VideoFormatDescription
    /// The parameter sets in Annex B, as libavcodec is to have them.
    let parameterSets: [UInt8]
    let attachments: PixelBufferAttachments
    /// The SPS, if each slice has to be examined: to distinguish fields, to put frames in order, or to find gaps.
    let sequence: SequenceParameterSet?
    /// The PPSs to which the examined slices refer.
    let pictureSets: [PictureParameterSet]
    /// The estimate for streams that do not state how many frames to hold back.
    var reordering: ReorderEstimator?

    /// - Parameter findsGaps: True if the slices have to be examined in any case.
    init(_ format: VideoFormatDescription, findsGaps: Bool = false) {
        self.format = format
        attachments = PixelBufferAttachments(colour: format.colour, pixelAspectRatio: format.pixelAspectRatio)
        let set = format.sequenceParameterSets.first
        let isTold = set?.usability?.bitstreamRestriction != nil
        let reorders = format.reorderDepth > 0
        let estimator = isTold || !reorders ? nil : set.map { ReorderEstimator($0) }
        reordering = estimator
        sequence = set.flatMap { $0.isFrameOnly && estimator == nil && !findsGaps ? nil : $0 }
        pictureSets = sequence == nil ? [] : format.pictureParameterSets
        parameterSets = Self.annexB(format, isLowDelay: estimator != nil || (!isTold && !reorders))
    }

    /// Returns true if pictures of both formats belong to one sequence: only their PPSs may differ.
    func isSameSequence(as other: VideoFormatDescription) -> Bool {
        guard format.properties == other.properties else { return false }
        let (own, others) = (format.sequenceParameterSets, other.sequenceParameterSets)
        guard own.isEmpty || others.isEmpty else { return own == others }
        return Self.sequenceUnits(format) == Self.sequenceUnits(other)
    }

    private static func sequenceUnits(_ format: VideoFormatDescription) -> [ByteBuffer] {
        format.parameterSets.filter { NALUnit($0)?.type == .sequenceParameterSet }
    }

    private static func annexB(_ format: VideoFormatDescription, isLowDelay: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        for parameterSet in format.parameterSets {
            var written = parameterSet
            if isLowDelay, let unit = NALUnit(parameterSet), unit.type == .sequenceParameterSet,
                let rewritten = LowDelayParameterSet.rewrite(unit)
            {
                written = rewritten.bytes
            }
            bytes.append(contentsOf: [0, 0, 0, 1])
            bytes.append(contentsOf: written.readableBytesView)
        }
        return bytes
    }
}
