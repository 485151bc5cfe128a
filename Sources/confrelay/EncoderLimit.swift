import ArgumentParser
import Foundation

/// The largest number of video encoders of a room.
struct EncoderLimit: ExpressibleByArgument {
    /// The number of encoders; nil for one for each receiver.
    var count: Int?

    /// Two for each core: they take about a fifth of its time with the default picture, decoding and composing the
    /// rest.
    static var forThisMachine: EncoderLimit {
        EncoderLimit(count: 2 * ProcessInfo.processInfo.activeProcessorCount)
    }

    init(count: Int?) {
        self.count = count
    }

    init?(argument: String) {
        if argument == "dedicated" {
            count = nil
        } else if let number = Int(argument) {
            count = number
        } else {
            return nil
        }
    }

    func check() throws {
        guard let count, !(1...1024).contains(count) else { return }
        throw ValidationError("--max-encoders \(count) is not possible: choose 1 to 1024, or dedicated")
    }

    var defaultValueDescription: String { count.map(String.init) ?? "dedicated" }
}
