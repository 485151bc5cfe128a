import CPangoCairo
import Glibc

/// The small pictures before a name in a label.
public struct LabelIcons: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// A crossed-out microphone: nothing is heard of the participant.
    public static let microphoneMuted = LabelIcons(rawValue: 1 << 0)
    /// A screen: this is the participant's screen, not the camera.
    public static let screen = LabelIcons(rawValue: 1 << 1)

    /// The single icons, in the order in which they are drawn.
    static let all: [LabelIcons] = [.microphoneMuted, .screen]
}

extension LabelIcons {
    /// Draws one icon, white, into a square of `side` pixels.
    func draw(on context: OpaquePointer?, x: Double, y: Double, side: Double) {
        cairo_save(context)
        defer { cairo_restore(context) }
        // The drawings are made for a square of 16.
        cairo_translate(context, x, y)
        cairo_scale(context, side / 16, side / 16)
        cairo_set_source_rgb(context, 1, 1, 1)
        cairo_set_line_width(context, 1.6)
        cairo_set_line_cap(context, CAIRO_LINE_CAP_ROUND)
        cairo_set_line_join(context, CAIRO_LINE_JOIN_ROUND)
        if self == .microphoneMuted { Self.drawMutedMicrophone(on: context) }
        if self == .screen { Self.drawScreen(on: context) }
    }

    private static func drawMutedMicrophone(on context: OpaquePointer?) {
        // The capsule.
        cairo_new_sub_path(context)
        cairo_arc(context, 8, 3.8, 2.4, .pi, 2 * .pi)
        cairo_arc(context, 8, 7.6, 2.4, 0, .pi)
        cairo_close_path(context)
        cairo_fill(context)
        // The holder and the stand.
        cairo_new_sub_path(context)
        cairo_arc(context, 8, 7.4, 4.6, 0.1 * .pi, 0.9 * .pi)
        cairo_stroke(context)
        cairo_move_to(context, 8, 12)
        cairo_line_to(context, 8, 14.4)
        cairo_move_to(context, 5.6, 14.6)
        cairo_line_to(context, 10.4, 14.6)
        cairo_stroke(context)
        // The stroke through it is cut out first, so that it is visible on white too.
        cairo_move_to(context, 2.4, 1.8)
        cairo_line_to(context, 13.6, 14.2)
        cairo_set_operator(context, CAIRO_OPERATOR_DEST_OUT)
        cairo_set_line_width(context, 4)
        cairo_stroke_preserve(context)
        cairo_set_operator(context, CAIRO_OPERATOR_OVER)
        cairo_set_line_width(context, 1.9)
        cairo_set_source_rgb(context, 1, 0.33, 0.30)
        cairo_stroke(context)
    }

    private static func drawScreen(on context: OpaquePointer?) {
        cairo_rectangle(context, 1.4, 2.6, 13.2, 8.8)
        cairo_stroke(context)
        cairo_move_to(context, 5, 14)
        cairo_line_to(context, 11, 14)
        cairo_stroke(context)
        // An arrow upwards: this is shown to others.
        cairo_move_to(context, 8, 9.4)
        cairo_line_to(context, 8, 5)
        cairo_move_to(context, 5.9, 6.9)
        cairo_line_to(context, 8, 4.8)
        cairo_line_to(context, 10.1, 6.9)
        cairo_stroke(context)
    }
}
