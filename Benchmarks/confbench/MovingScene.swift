import MediaCore

/// The view of a camera in a call: a still room full of detail, and in front of it a large and detailed object that
/// moves. It repeats without a seam after `period` pictures.
///
/// All randomness comes from a seed, so that every run encodes the same pictures.
struct MovingScene {
    /// Pictures until the scene repeats.
    static let period = 150

    private let dimensions: VideoDimensions
    private let room: Texture
    private let person: Texture

    init(dimensions: VideoDimensions) {
        self.dimensions = dimensions
        room = Texture(seed: 1, dimensions: dimensions)
        person = Texture(
            seed: 2, dimensions: VideoDimensions(width: dimensions.width * 2 / 5, height: dimensions.height * 3 / 4))
    }

    func picture(_ number: Int) -> PixelBuffer {
        let size = person.dimensions
        // On a closed path, in even steps so that chroma moves along.
        let travelX = dimensions.width / 4
        let travelY = dimensions.height - size.height
        let x = dimensions.width * 3 / 10 + Self.swing(number, over: Self.period, by: travelX / 2)
        let y = travelY / 2 + Self.swing(number + Self.period / 4, over: Self.period / 2, by: travelY / 4)
        var picture = MutablePixelBuffer(format: .i420, dimensions: dimensions)
        for plane in 0..<3 {
            let shift = plane == 0 ? 0 : 1
            picture.withMutablePlane(plane) { bytes, stride in
                room.copy(plane: plane, to: bytes, stride: stride, x: 0, y: 0)
                person.copy(
                    plane: plane, to: bytes, stride: stride, x: max(0, x) / 2 * 2 >> shift,
                    y: max(0, y) / 2 * 2 >> shift)
            }
        }
        return picture.freeze()
    }

    /// From -amplitude to amplitude and back within `period`, at one speed.
    private static func swing(_ number: Int, over period: Int, by amplitude: Int) -> Int {
        let phase = number % period
        let half = period / 2
        let position = phase < half ? phase : period - phase
        return amplitude * 2 * position / half - amplitude
    }
}

/// Smooth noise of two grains: detail that an encoder has to work for, as of cloth and wood.
private struct Texture {
    let dimensions: VideoDimensions
    private let planes: [[UInt8]]

    init(seed: UInt64, dimensions: VideoDimensions) {
        let size = VideoDimensions(width: dimensions.width / 2 * 2, height: dimensions.height / 2 * 2)
        self.dimensions = size
        planes = (0..<3).map { plane in
            let (width, rows) = plane == 0 ? (size.width, size.height) : (size.width / 2, size.height / 2)
            let noise = Noise(seed: seed &* 3 &+ UInt64(plane))
            let contrast = plane == 0 ? 2 : 8
            var samples: [UInt8] = []
            samples.reserveCapacity(width * rows)
            for y in 0..<rows {
                for x in 0..<width {
                    let value = noise.value(x: x, y: y, grain: 32) * 3 / 4 + noise.value(x: x, y: y, grain: 4) / 4
                    samples.append(UInt8(clamping: 128 + (value - 128) / contrast))
                }
            }
            return samples
        }
    }

    func copy(plane: Int, to target: UnsafeMutableRawBufferPointer, stride: Int, x: Int, y: Int) {
        let width = plane == 0 ? dimensions.width : dimensions.width / 2
        planes[plane].withUnsafeBytes { samples in
            for row in 0..<samples.count / width {
                let start = (y + row) * stride + x
                guard start >= 0, start + width <= target.count else { return }
                UnsafeMutableRawBufferPointer(rebasing: target[start..<start + width])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: samples[row * width..<(row + 1) * width]))
            }
        }
    }
}
