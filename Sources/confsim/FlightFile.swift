import FlightRecording
import Foundation
import Simulation

/// Reads the flight recordings that the command line names.
enum FlightFile {
    static func open(_ path: String) throws -> FlightDecoder {
        let data: Data
        do {
            data = try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw InputError.unusable("cannot read the recording '\(path)': \(UnreadableFile.reason(error))")
        }
        do throws(FlightDecodingError) {
            return try FlightDecoder([UInt8](data))
        } catch {
            throw InputError.unusable("\(path): \(error)")
        }
    }

    static func next(_ flight: inout FlightDecoder, of path: String) throws -> FlightRecord? {
        do throws(FlightDecodingError) {
            return try flight.next()
        } catch {
            throw InputError.unusable("\(path): \(error)")
        }
    }

    /// Returns a text from an untrusted file without the characters that a terminal would interpret.
    static func shown(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned:
                result.append("?")
            default: result.append(scalar)
            }
        }
        return String(result)
    }
}
