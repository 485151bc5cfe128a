import Conference
import Foundation
import LoadControl
import MediaCore
import RelayServer
import RoomAPI
import VectorGraphics
import VideoCoding

/// The result of `confrelay calibrate`, as JSON and as a table.
struct CalibrationReport: Encodable {
    struct Size: Encodable {
        var width: Int
        var height: Int
    }

    struct Seats: Encodable {
        var dedicated: Int
        var groups: Int
        var sharedView: Int
        var cheapest: Int
    }

    var canvas: Size
    var encoder: String
    var preset: String
    var frameRate: Int
    var workers: Int
    /// The largest number of encoders; nil for one for each receiver.
    var maximumEncoders: Int?
    /// Milliseconds of processor time: a frame of 640x360, the addition of each source and each picture to a tick, an
    /// encoded picture by preset, 20 ms of audio.
    var decode: Double
    var composeSource: Double
    var composePicture: Double
    var encode: [String: Double]
    var audioDecode: Double
    var audioEncode: Double
    /// The number of participants in one room that all send and receive.
    var seats: Seats

    init(_ model: SeatModel) {
        let calibration = model.calibration
        canvas = Size(width: calibration.canvas.width, height: calibration.canvas.height)
        encoder = calibration.encoder.rawValue
        preset = model.preset.rawValue
        frameRate = model.frameRate
        workers = model.workers
        maximumEncoders = model.maximumEncoders
        func milliseconds(_ seconds: Double) -> Double { (seconds * 1e7).rounded() / 1e4 }
        decode = milliseconds(calibration.decode)
        composeSource = milliseconds(calibration.compose.source)
        composePicture = milliseconds(calibration.compose.picture)
        encode = Dictionary(uniqueKeysWithValues: calibration.encode.map { ($0.rawValue, milliseconds($1)) })
        audioDecode = milliseconds(calibration.audioDecode)
        audioEncode = milliseconds(calibration.audioEncode)
        seats = Seats(
            dedicated: model.seats(.dedicated), groups: model.seats(.groups), sharedView: model.seats(.sharedView),
            cheapest: model.seats(.cheapest))
    }

    func json() throws -> String {
        String(decoding: try JSONEncoder.readable.encode(self), as: UTF8.self) + "\n"
    }

    /// The cost of one, and of each participant at the relay's rates.
    var table: String {
        let rate = Double(frameRate)
        var rows: [(work: String, each: Double, perSecond: Double)] = [
            ("decode 640x360", decode, 30),
            ("compose: each source", composeSource, rate),
            ("compose: each picture of \(canvas.width)x\(canvas.height)", composePicture, rate),
        ]
        for preset in EncoderPreset.allCases {
            guard let cost = encode[preset.rawValue] else { continue }
            rows.append(("encode \(encoder), \(preset.rawValue)", cost, rate))
        }
        rows.append(("decode 20 ms of Opus", audioDecode, 50))
        rows.append(("encode 20 ms of Opus", audioEncode, 50))
        let width = rows.map(\.work.count).max() ?? 0
        var text = Self.line("work", "each", "per second", "of a core", width: width)
        for row in rows {
            text += Self.line(
                row.work, NumberText.fixed(row.each, 3) + " ms", NumberText.fixed(row.perSecond, 0),
                NumberText.fixed(row.each * row.perSecond / 10, 1) + " %", width: width)
        }
        let encoders = maximumEncoders.map { "\($0) encoders" } ?? "an encoder for each"
        text += """

            Participants in one room on \(workers) \(workers == 1 ? "core" : "cores"), each sending 640x360 at 30 \
            pictures a second:
            \(Self.seats(seats.dedicated)) with a picture and an encoder for each (\(preset))
            \(Self.seats(seats.groups)) who all see the same, with \(encoders)
            \(Self.seats(seats.sharedView)) who all see the same, with one encoder
            \(Self.seats(seats.cheapest)) at the least that overload control goes to

            """
        return text
    }

    private static func line(
        _ work: String, _ each: String, _ count: String, _ share: String, width: Int
    ) -> String {
        pad(work, to: width, before: false) + pad(each, to: 12) + pad(count, to: 12) + pad(share, to: 11) + "\n"
    }

    private static func seats(_ count: Int) -> String { pad("\(count)", to: 5) }

    private static func pad(_ text: String, to width: Int, before: Bool = true) -> String {
        let space = String(repeating: " ", count: max(0, width - text.count))
        return before ? space + text : text + space
    }
}
