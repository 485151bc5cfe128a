/// The references between pictures: one reference each, in one to three temporal layers.
///
/// With three layers the order is 0, 2, 1, 2. A picture refers to the newest reference of its layer or a lower one;
/// pictures of the highest of several layers are no references. So the stream plays without its upper layers.
struct ReferenceStructure {
    /// Values of the stream's format.
    static let log2MaximumFrameNumber = 8
    static let log2MaximumPictureOrder = 8

    /// A reference, and where it is kept.
    struct Reference: Equatable {
        var slot: Int
        /// `frame_num`.
        var frameNumber: Int
        /// `PicOrderCnt`.
        var order: Int
        var layer: Int
    }

    /// The next picture's place in the structure.
    struct Picture: Equatable {
        var isIDR: Bool
        var idrID: Int
        var frameNumber: Int
        var order: Int
        var layer: Int
        var isReference: Bool
        /// The slot in which it is rebuilt.
        var slot: Int
        /// All that may be referred to, oldest first.
        var references: [Reference]
        /// The one that is; nil in an intra picture.
        var reference: Reference?

        /// `abs_diff_pic_num_minus1`, where the reference is not the newest (H.264 7.4.3.1).
        var modification: Int? {
            guard let reference, reference != references.last else { return nil }
            let count = 1 << ReferenceStructure.log2MaximumFrameNumber
            return (frameNumber - reference.frameNumber - 1 + count) % count
        }
    }

    let layers: Int
    private var references: [Reference] = []
    /// Pictures since the last IDR picture.
    private var count = 0
    private var frameNumber = 0
    private var order = 0
    private var idrID = 0

    init(layers: Int) {
        self.layers = layers
        references.reserveCapacity(maximumReferences + 1)
    }

    /// `max_num_ref_frames`.
    var maximumReferences: Int { layers > 2 ? 2 : 1 }
    /// The places for pictures that are rebuilt.
    var slotCount: Int { maximumReferences + 1 }

    private func layer(_ index: Int) -> Int {
        switch layers {
        case 3: [0, 2, 1, 2][index % 4]
        case 2: index % 2
        default: 0
        }
    }

    /// The layers of the pictures behind an IDR picture, until they repeat.
    var pattern: [Int] { (1...(layers > 2 ? 4 : layers)).map(layer) }

    /// The next picture. It is not in the structure before `add`.
    func next(isIDR: Bool) -> Picture {
        if isIDR || count == 0 {
            return Picture(
                isIDR: true, idrID: idrID, frameNumber: 0, order: 0, layer: 0, isReference: true, slot: 0,
                references: [], reference: nil)
        }
        let layer = layer(count)
        let isUsed = { (slot: Int) in references.contains { $0.slot == slot } }
        return Picture(
            isIDR: false, idrID: idrID, frameNumber: frameNumber, order: order, layer: layer,
            isReference: layers == 1 || layer < layers - 1, slot: (0..<slotCount).first { !isUsed($0) } ?? 0,
            references: references, reference: references.last { $0.layer <= layer })
    }

    /// Takes in a picture that was encoded.
    mutating func add(_ picture: Picture) {
        if picture.isIDR {
            references.removeAll(keepingCapacity: true)
            count = 0
            // Two in a row differ (H.264 7.4.3).
            idrID = (picture.idrID + 1) & 0xFF
        }
        if picture.isReference {
            if references.count == maximumReferences { references.removeFirst() }
            references.append(
                Reference(
                    slot: picture.slot, frameNumber: picture.frameNumber, order: picture.order, layer: picture.layer))
        }
        frameNumber = (picture.frameNumber + (picture.isReference ? 1 : 0)) % (1 << Self.log2MaximumFrameNumber)
        order = picture.order + 2
        count += 1
    }
}
