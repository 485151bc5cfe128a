import ArgumentParser
import CongestionControl
import LinkEmulation
import MediaCore
import Simulation

/// Parses the values of options.
enum OptionValue {
    static func rate(_ text: String) throws -> BitRate {
        guard let rate = LinkProfile.bitRate(text) else {
            throw ValidationError("'\(text)' is not a rate; expected one such as 500k or 2.5M.")
        }
        return rate
    }

    /// Parses a time; a number without a unit means seconds.
    static func duration(_ text: String) throws -> Duration {
        guard let duration = LinkProfile.duration(text) ?? LinkProfile.duration(text + "s") else {
            throw ValidationError("'\(text)' is not a time; expected one such as 60s, 500ms or 2min.")
        }
        return duration
    }

    static func pictureSize(_ text: String) throws -> VideoDimensions {
        guard let dimensions = PictureCoding.dimensions(parsing: text) else {
            throw ValidationError("'\(text)' is not a size; expected even numbers such as 640x360.")
        }
        return dimensions
    }

    /// The constants of confrelay, some of them multiplied.
    static func parameters(multiplying multiples: [(name: String, factor: Double)]) throws -> ConfrelayParameters {
        do { return try ConfrelayParameters(multiplying: multiples) } catch { throw ValidationError("\(error).") }
    }
}
