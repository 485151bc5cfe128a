import MediaCore
import Testing

@testable import Compositing

/// Each kind of transition at 0, 25, 50, 75 and 100 %, side by side.
@Suite("Golden transitions")
struct GoldenTransitionTests {
    private static let canvas = VideoDimensions(width: 320, height: 180)
    private static let three = LayoutScene(cameras: [1, 2, 3], speakers: [1])
    private static let four = LayoutScene(cameras: [1, 2, 3, 4], speakers: [1])
    private static let otherSpeaker = LayoutScene(cameras: [1, 2, 3], speakers: [3, 1])
    private static let answered = LayoutScene(cameras: [1, 2, 3], speakers: [2, 1])
    private static let presented = LayoutScene(cameras: [1, 2, 3], presenters: [2], speakers: [1])

    private static func view(_ layout: Layout, _ scene: LayoutScene) -> CompositionView {
        layout.view(of: scene, canvas: canvas)
    }

    @Test(
        "each transition looks as it was accepted",
        arguments: [
            ("join", view(.grid, three), view(.grid, four)), ("leave", view(.grid, four), view(.grid, three)),
            ("speaker", view(.speaker, three), view(.speaker, otherSpeaker)),
            ("layout", view(.grid, four), view(.speaker, four)),
            ("presentation", view(.grid, three), view(.grid, presented)),
            ("picture-in-picture", view(.pictureInPicture, three), view(.pictureInPicture, otherSpeaker)),
            ("swap", view(.pictureInPicture, three), view(.pictureInPicture, answered)),
            ("solo", view(.solo(1), three), view(.solo(2), three)),
        ])
    func transition(name: String, from: CompositionView, to: CompositionView) throws {
        var director = CompositionDirector(canvas: Self.canvas, transitions: .standard)
        director.show(from, at: .zero)
        director.show(to, at: at(1000))
        try check(director, from: 1000, name: "transition-\(name)")
    }

    @Test("a transition that is interrupted half way looks as it was accepted")
    func interrupted() throws {
        var director = CompositionDirector(canvas: Self.canvas, transitions: .standard)
        director.show(Self.view(.grid, Self.four), at: .zero)
        director.show(Self.view(.speaker, Self.four), at: at(1000))
        director.show(Self.view(.speaker, Self.otherSpeaker), at: at(1150))
        try check(director, from: 1150, name: "transition-interrupted")
    }

    private func at(_ milliseconds: Int64) -> MediaTime { MediaTime(value: milliseconds, timescale: 1000) }

    private func check(_ director: CompositionDirector, from start: Int64, name: String) throws {
        let composer = Composer()
        let pictures = [Int64(0), 75, 150, 225, 300].map { elapsed in
            let time = at(start + elapsed)
            let instruction = director.instruction(at: time)
            return composer.compose(
                [CompositionRequest(canvas: Self.canvas, instruction: instruction)],
                sources: cards(instruction.requiredSources, Self.canvas), at: time)[0]
        }
        try GoldenPicture(name: name).check(contactSheet(pictures), tolerance: 10)
    }
}
