import VectorGraphics

/// The styles that distinguish series: colours, and dashes and shapes for people who cannot see the colours.
///
/// The colours follow the palette of Okabe and Ito ("Color Universal Design", 2008), darkened on white and lightened on
/// black so that each has a contrast of at least 3:1 to its background (WCAG 2.2, 1.4.11).
enum SeriesStyle {
    static let count = 8

    /// The colours on a light and on a dark background.
    static let colours: [(light: String, dark: String)] = [
        ("#c84b00", "#ff8a3d"), ("#0068a8", "#56b4e9"), ("#00805c", "#2fd0a0"), ("#a8327e", "#ee9fcb"),
        ("#8a6a00", "#f0c928"), ("#5b4bc4", "#b3a8ff"), ("#007a8a", "#66dbe8"), ("#6b6b6b", "#b5b5b5"),
    ]

    static let dashes = ["", "5 2", "2 1.5", "7 2 1.5 2", "9 3", "1 2", "5 2 1 2 1 2", "3 3"]

    static func index(_ style: Int) -> Int { ((style % count) + count) % count }

    static func lineClass(_ style: Int) -> String { "c\(index(style)) d\(index(style))" }
    static func markClass(_ style: Int) -> String { "c\(index(style))" }

    /// Returns a shape around the origin.
    static func shape(_ style: Int, size: Double) -> String {
        let s = NumberText.short(size, 1)
        let half = NumberText.short(size * 0.85, 1)
        let side = NumberText.short(size * 1.7, 1)
        let third = NumberText.short(size * 0.4, 1)
        switch index(style) {
        case 0:
            return "M-\(s) 0a\(s) \(s) 0 1 0 \(NumberText.short(size * 2, 1)) 0a\(s) \(s) 0 1 0 -"
                + "\(NumberText.short(size * 2, 1)) 0Z"
        case 1: return "M-\(half) -\(half)h\(side)v\(side)h-\(side)Z"
        case 2: return "M0 -\(s)L\(s) \(half)H-\(s)Z"
        case 3: return "M0 -\(s)L\(s) 0L0 \(s)L-\(s) 0Z"
        case 4: return "M0 \(s)L\(s) -\(half)H-\(s)Z"
        case 5:
            return
                "M-\(third) -\(s)H\(third)V-\(third)H\(s)V\(third)H\(third)V\(s)H-\(third)V\(third)H-\(s)V-\(third)H-"
                + "\(third)Z"
        case 6: return "M-\(s) -\(third)H\(s)V\(third)H-\(s)Z"
        default: return "M-\(third) -\(s)H\(third)V\(s)H-\(third)Z"
        }
    }
}
