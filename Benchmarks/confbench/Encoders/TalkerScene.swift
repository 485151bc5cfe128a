import MediaCore

/// A person in front of a camera: a still room, a head and shoulders that sway by fractions of a sample and come nearer
/// and go back, a mouth that opens while the person talks, and the sensor's noise over the whole picture.
///
/// All randomness comes from a seed, so that every run encodes the same pictures.
struct TalkerScene {
    private let dimensions: VideoDimensions
    private let isTalking: Bool
    private let phase: Float
    private let room: [Plane]
    private let person: [Plane]
    /// The sensor's noise, longer than a picture, so that it begins elsewhere in each.
    private let grain: [Int8]

    /// The noise's largest deviation, as of a webcam in a lit room.
    private static let grainAmplitude = 3

    init(seed: UInt64, dimensions: VideoDimensions, isTalking: Bool) {
        self.dimensions = dimensions
        self.isTalking = isTalking
        phase = Float(seed % 7)
        room = (0..<3).map { Plane(seed: seed &* 16 &+ UInt64($0), plane: $0, of: dimensions, grains: (48, 5)) }
        person = (0..<3).map { Plane(seed: seed &* 16 &+ 8 &+ UInt64($0), plane: $0, of: dimensions, grains: (24, 3)) }
        var generator = SeededGenerator(seed: seed)
        grain = (0..<dimensions.area * 2).map { _ in
            // The mean of four is near enough to a bell.
            let bits = generator.next()
            let sum = (0..<4).reduce(0) { $0 + Int(bits >> (8 * $1) & 255) - 128 }
            return Int8(clamping: sum * Self.grainAmplitude / 256)
        }
    }

    /// The picture at `number`, 30 a second.
    func picture(_ number: Int) -> PixelBuffer {
        let pose = Pose(time: Float(number) / 30 + phase, dimensions: dimensions, isTalking: isTalking)
        var picture = MutablePixelBuffer(format: .i420, dimensions: dimensions)
        for plane in 0..<3 {
            picture.withMutablePlane(plane) { bytes, stride in paint(plane, pose, bytes, stride) }
        }
        addGrain(number, to: &picture)
        return picture.freeze()
    }

    private func paint(_ index: Int, _ pose: Pose, _ target: UnsafeMutableRawBufferPointer, _ stride: Int) {
        let (room, person) = (room[index], person[index])
        let step: Float = index == 0 ? 1 : 2
        for y in 0..<room.rows {
            for x in 0..<room.width {
                let (across, down) = ((Float(x) * step - pose.x) / pose.zoom, (Float(y) * step - pose.y) / pose.zoom)
                let value: Float
                if pose.mouth.contains(across, down) {
                    value = index == 0 ? 45 : 140
                } else if pose.head.contains(across, down) || pose.shoulders.contains(across, down) {
                    value = person.value(
                        (across + pose.head.width) / step, (down + pose.head.height) / step)
                } else {
                    value = Float(room.samples[y * room.width + x])
                }
                target[y * stride + x] = UInt8(clamping: Int(value))
            }
        }
    }

    private func addGrain(_ number: Int, to picture: inout MutablePixelBuffer) {
        var generator = SeededGenerator(seed: UInt64(number))
        let start = Int(generator.next() % UInt64(max(1, dimensions.area)))
        picture.withMutablePlane(0) { bytes, stride in
            for y in 0..<dimensions.height {
                for x in 0..<dimensions.width {
                    let value = Int(bytes[y * stride + x]) + Int(grain[start + y * dimensions.width + x])
                    bytes[y * stride + x] = UInt8(clamping: value)
                }
            }
        }
    }
}

/// The person's position at a moment, in luma samples.
private struct Pose {
    struct Ellipse {
        var x: Float = 0
        var y: Float
        var width: Float
        var height: Float

        func contains(_ across: Float, _ down: Float) -> Bool {
            let (right, below) = ((across - x) / width, (down - y) / height)
            return right * right + below * below < 1
        }
    }

    var x: Float
    var y: Float
    var zoom: Float
    var head: Ellipse
    var shoulders: Ellipse
    var mouth: Ellipse

    init(time: Float, dimensions: VideoDimensions, isTalking: Bool) {
        let (width, height) = (Float(dimensions.width), Float(dimensions.height))
        let liveliness: Float = isTalking ? 1 : 0.3
        x = width / 2 + liveliness * width * 0.03 * Self.wave(time / 3.1)
        y = height * 0.42 + liveliness * height * 0.02 * Self.wave(time / 1.7)
        zoom = 1 + liveliness * 0.04 * Self.wave(time / 5.3)
        head = Ellipse(y: 0, width: height * 0.22, height: height * 0.3)
        shoulders = Ellipse(y: height * 0.68, width: height * 0.55, height: height * 0.42)
        let opening = isTalking ? abs(Self.wave(time * 2.3)) * (0.6 + 0.4 * Self.wave(time / 1.3)) : 0
        mouth = Ellipse(y: height * 0.15, width: height * 0.06, height: max(0.5, height * 0.035 * opening))
    }

    /// A wave of period 1 between -1 and 1, made of two parabolas.
    private static func wave(_ phase: Float) -> Float {
        let part = phase - phase.rounded(.down)
        let half = part < 0.5 ? part * 2 : part * 2 - 1
        return (part < 0.5 ? 4 : -4) * half * (1 - half)
    }
}

/// One plane of smooth noise that continues beyond its edges.
private struct Plane {
    let width: Int
    let rows: Int
    let samples: [UInt8]

    init(seed: UInt64, plane: Int, of dimensions: VideoDimensions, grains: (Int, Int)) {
        (width, rows) = PixelFormat.i420.planeSize(plane, of: dimensions)
        let noise = Noise(seed: seed)
        let contrast = plane == 0 ? 2 : 8
        var samples: [UInt8] = []
        samples.reserveCapacity(width * rows)
        for y in 0..<rows {
            for x in 0..<width {
                let coarse = noise.value(x: x, y: y, grain: grains.0) * 3 / 4
                let fine = noise.value(x: x, y: y, grain: grains.1) / 4
                samples.append(UInt8(clamping: 120 + (coarse + fine - 128) / contrast))
            }
        }
        self.samples = samples
    }

    /// Between the samples, bilinear.
    func value(_ x: Float, _ y: Float) -> Float {
        let (column, row) = (Int(x.rounded(.down)), Int(y.rounded(.down)))
        let (right, below) = (x - Float(column), y - Float(row))
        let top = sample(column, row) * (1 - right) + sample(column + 1, row) * right
        let bottom = sample(column, row + 1) * (1 - right) + sample(column + 1, row + 1) * right
        return top * (1 - below) + bottom * below
    }

    private func sample(_ column: Int, _ row: Int) -> Float {
        Float(samples[min(max(row, 0), rows - 1) * width + min(max(column, 0), width - 1)])
    }
}
