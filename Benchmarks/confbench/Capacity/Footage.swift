import Foundation
import MediaCore

/// The pictures of the senders' cameras: the test scene, or files that the senders take in turn.
///
/// Files are shown forwards and backwards, so that those of at least `reelLength` pictures go on without a cut.
struct Footage {
    private let reels: [PictureReel]

    /// Pictures until the footage repeats: those of the test scene, so that all clips have as many keyframes.
    static let period = MovingScene.period
    private static let reelLength = period / 2 + 1

    /// - Parameter files: Raw H.264 streams or Y4M files; empty for the test scene.
    init(files: [String], in directory: ScratchDirectory) throws {
        reels = try files.enumerated().map { index, path in
            let reel = try PictureReel(
                path: directory.path(of: "footage-\(index).i420"), dimensions: Workload.sourceDimensions)
            guard try reel.append(contentsOf: path, atMost: Self.reelLength) > 1 else {
                throw BenchmarkError.codecFailed(reason: "\(path) holds no two pictures that can be decoded")
            }
            return reel
        }
    }

    /// The clips that so many senders send, each with its sender and numbers in the pictures. They are encoded here.
    func clips(senders: Int) throws -> [TestClip] {
        let scene = MovingScene(dimensions: Workload.sourceDimensions)
        return try (0..<senders).map { sender in
            try TestClip.encode(count: Self.period) { number in
                let original =
                    reels.isEmpty ? scene.picture(number) : try reels[sender % reels.count].pictureToAndFro(number)
                var marked = original.part(PixelRect(original.dimensions))
                FrameMark(sender: sender, number: number).draw(into: &marked)
                return marked.freeze()
            }
        }
    }
}
