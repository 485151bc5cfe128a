import Testing

@testable import VideoCoding

@Suite("The structure of references")
struct ReferenceStructureTests {
    private func pictures(layers: Int, _ count: Int) -> [ReferenceStructure.Picture] {
        var structure = ReferenceStructure(layers: layers)
        return (0..<count).map { _ in
            let picture = structure.next(isIDR: false)
            structure.add(picture)
            return picture
        }
    }

    @Test("has each picture refer to the newest of its layer or a lower one")
    func references() {
        let pictures = pictures(layers: 3, 9)
        #expect(pictures.map(\.layer) == [0, 2, 1, 2, 0, 2, 1, 2, 0])
        #expect(pictures.map { $0.reference?.order } == [nil, 0, 0, 4, 0, 8, 8, 12, 8])
        #expect(pictures.map(\.isReference) == [true, false, true, false, true, false, true, false, true])
    }

    @Test("names a reference that is not the newest", arguments: [(1, 0), (2, 0), (3, 3)])
    func modifications(layers: Int, expected: Int) {
        #expect(pictures(layers: layers, 13).count { $0.modification != nil } == expected)
    }

    @Test("rebuilds no picture over one that is referred to", arguments: 1...3)
    func slots(layers: Int) {
        for picture in pictures(layers: layers, 600) {
            #expect(!picture.references.contains { $0.slot == picture.slot })
        }
    }

    @Test("counts references, round its maximum", arguments: 1...3)
    func frameNumbers(layers: Int) {
        let pictures = pictures(layers: layers, 600)
        for (picture, next) in zip(pictures, pictures.dropFirst()) {
            #expect(next.frameNumber == (picture.frameNumber + (picture.isReference ? 1 : 0)) % 256)
        }
    }

    @Test("gives keyframes in a row different numbers")
    func keyframes() {
        var structure = ReferenceStructure(layers: 1)
        let first = structure.next(isIDR: true)
        structure.add(first)
        let second = structure.next(isIDR: true)
        #expect(first.idrID != second.idrID)
        #expect(second.references.isEmpty)
    }
}
