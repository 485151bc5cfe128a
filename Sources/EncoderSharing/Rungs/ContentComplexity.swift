import Glibc
package import MediaCore

/// The number of bits that moving content takes, independent of size, frame rate and QP: a talking head takes few,
/// sport many.
///
/// Six steps of the QP halve the bits; in a smaller picture each sample takes more bits, and at a lower frame rate each
/// picture takes more. So the result of one rung and rate predicts that of others.
package struct ContentComplexity: Hashable, Sendable {
    /// The growth of bits with the samples of a picture and with the pictures a second, as powers.
    private static let powers = (samples: 0.8, pictures: 0.6)
    private static let stepsToHalve = 6.0

    /// The logarithm to base 2 of the bits a second of one sample, one picture a second and a parameter of zero.
    package var level: Double

    /// The complexity that frames of a rate at a rung show.
    package init(qp: Double, rate: BitRate, rung: EncodeRung) {
        level = qp / Self.stepsToHalve + log2(Double(max(1, rate.bitsPerSecond))) - Self.size(rung)
    }

    package init(level: Double) {
        self.level = level
    }

    /// Returns the QP that a rate gives at a rung; above 51 if it is not possible.
    package func qp(at rung: EncodeRung, rate: BitRate) -> Double {
        Self.stepsToHalve * (level + Self.size(rung) - log2(Double(max(1, rate.bitsPerSecond))))
    }

    private static func size(_ rung: EncodeRung) -> Double {
        powers.samples * log2(Double(max(1, rung.dimensions.area)))
            + powers.pictures * log2(Double(max(1, rung.frameRate)))
    }
}
