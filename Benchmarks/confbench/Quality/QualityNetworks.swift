import Foundation
import LinkEmulation
import MediaCore
import Simulation

/// The receivers' networks.
enum QualityNetworks {
    private static let delay = Duration.milliseconds(20)
    private static let slowest = 250.0
    private static let fastest = 3000.0
    /// In such steps networks are compared.
    private static let step = Duration.milliseconds(100)

    /// Networks of constant rates, from the slowest to the fastest in equal steps of the logarithm.
    static func fixed(count: Int) -> [RoomSimulationParameters.Receiver] {
        (0..<count).map { index in
            let part = count > 1 ? Double(index) / Double(count - 1) : 0
            let rate = BitRate.kilobits((slowest * pow(fastest / slowest, part)).rounded())
            return RoomSimulationParameters.Receiver(
                name: "\(Int(rate.kilobitsPerSecond)) kbit/s", downlink: LinkProfile(rate: .fixed(rate), delay: delay))
        }
    }

    /// The network whose rate at each moment is that of the slowest one.
    static func minimum(_ receivers: [RoomSimulationParameters.Receiver], duration: Duration) -> LinkProfile {
        var steps: [LinkRate.Step] = []
        var time = Duration.zero
        while time < duration {
            // A network with a rate of zero would never continue.
            let rate = max(
                receivers.map { capacity(of: $0, from: time, to: time + step) }.min() ?? .zero, .kilobits(10))
            if steps.last?.rate != rate { steps.append(LinkRate.Step(at: time, rate: rate)) }
            time += step
        }
        return LinkProfile(rate: .steps(steps), delay: delay)
    }

    /// The average rate of a receiver's network between two times.
    static func capacity(
        of receiver: RoomSimulationParameters.Receiver, from begin: Duration, to end: Duration
    ) -> BitRate {
        let size = receiver.downlink.rate.capacity(from: begin, to: end) ?? .zero
        return BitRate(bitsPerSecond: size.bits / (end - begin).seconds)
    }
}
