/// The appearance of a source without a picture: the initial of its name on a colour that depends on the name.
struct PlaceholderStyle: Hashable {
    /// A name's first character that shows, in upper case.
    let initial: String
    /// The hue, one of `hueCount` around the colour circle.
    let hue: Int

    /// Few enough that placeholders are shared, many enough that neighbours differ.
    static let hueCount = 36

    init(name: String) {
        initial = DisplayText(name).initial
        // FNV-1a: the same in every run, unlike `Hasher`.
        let hash = name.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        hue = Int((hash ^ hash >> 32) % UInt64(Self.hueCount))
    }

    /// Red, green and blue from 0 to 1: muted, and dark enough for white letters.
    var colour: (red: Double, green: Double, blue: Double) {
        let (low, high) = (0.20, 0.52)
        let position = Double(hue) * 6 / Double(Self.hueCount)
        let sector = Int(position)
        let rising = low + (high - low) * (position - Double(sector))
        let falling = low + high - rising
        return switch sector {
        case 0: (high, rising, low)
        case 1: (falling, high, low)
        case 2: (low, high, rising)
        case 3: (low, falling, high)
        case 4: (rising, low, high)
        default: (high, low, falling)
        }
    }
}
