import MediaCore
import PixelTransfer
import Testing

@testable import Compositing

@Suite("Templates filled with people")
struct TemplateLayoutTests {
    private let canvas = VideoDimensions(width: 1280, height: 720)

    private func layout(_ slots: String) throws -> Layout {
        .template(try decodeTemplate(#"{"slots":[\#(slots)]}"#))
    }

    private func sources(_ slots: String, _ scene: LayoutScene) throws -> [SourceID] {
        try layout(slots).layers(of: scene, canvas: canvas).map(\.source)
    }

    private func slot(_ show: String, _ more: String = "") -> String { #"{"show":[\#(show)]\#(more)}"# }

    @Test("slots choose in their order, by the first rule that finds somebody, and nobody is shown twice")
    func order() throws {
        let scene = LayoutScene(cameras: [1, 2, 3, 4], presenters: [2, 4], speakers: [3, 1])
        #expect(try sources(slot(#""screen","speaker""#), scene) == [.screenShare(4)])
        #expect(
            try sources(
                [#""speaker""#, #""previous-speaker""#, #""next""#, #""next""#].map { slot($0) }.joined(separator: ","),
                scene)
                == [3, 1, 2, 4])
        #expect(try sources(slot(#""next""#) + "," + slot(#""speaker","screen""#), scene) == [1, 3])
        #expect(
            try sources(slot(#""speaker""#) + "," + slot(#""speaker","screen""#) + "," + slot(#""screen""#), scene)
                == [3, .screenShare(4), .screenShare(2)])
        #expect(
            try sources((0..<5).map { _ in slot(#""recent""#) }.joined(separator: ","), scene) == [3, 1, 2, 4])
    }

    @Test("until somebody has spoken, the speaker is the participant that joined first")
    func nobodySpoke() throws {
        let slots = slot(#""speaker""#) + "," + slot(#""previous-speaker""#)
        #expect(try sources(slots, LayoutScene(cameras: [7, 8, 9])) == [7, 8])
        #expect(try sources(slots, LayoutScene(cameras: [7, 8, 9], speakers: [8])) == [8, 7])
        #expect(try sources(slots, LayoutScene(cameras: [7])) == [7])
        #expect(try sources(slots, LayoutScene(cameras: [])).isEmpty)
    }

    @Test("a participant and their screen are found by name, in upper or lower case")
    func byName() throws {
        let scene = LayoutScene(
            cameras: [1, 2, 3], presenters: [1, 3], speakers: [],
            names: [1: "Ben", 2: "ADA ", 3: "Ada"])
        let ada = slot(#""participant:ada""#)
        #expect(try sources("\(ada),\(ada),\(ada)", scene) == [2, 3])
        #expect(try sources(slot(#""screen:Ada","screen""#), scene) == [.screenShare(3)])
        #expect(try sources(slot(#""participant:Eve","next""#), scene) == [1])
        #expect(try sources(ada, LayoutScene(cameras: [1])).isEmpty)
    }

    @Test("a slot of many tiles takes all sources that each rule finds, up to its limit")
    func group() throws {
        let scene = LayoutScene(cameras: [1, 2, 3, 4, 5], presenters: [2], speakers: [5, 4])
        let many = #","tiles":"grid""#
        #expect(try sources(slot(#""screen","next""#, many), scene) == [.screenShare(2), 1, 2, 3, 4, 5])
        #expect(try sources(slot(#""speaker""#) + "," + slot(#""next""#, many), scene) == [5, 1, 2, 3, 4])
        // The participants that spoke are chosen, and stand in the order of joining.
        #expect(try sources(slot(#""recent""#, many + #","most":3"#), scene) == [1, 4, 5])
    }

    @Test("tiles lie in their slot, do not overlap, and are 16:9", arguments: ["grid", "row", "column"])
    func tiles(tiling: String) throws {
        let slots = slot(
            #""next""#, #","x":0.25,"y":0.1,"width":0.5,"height":0.7,"tiles":"\#(tiling)","gap":0.02"#)
        for count in 0...16 {
            let scene = LayoutScene(cameras: (0..<UInt64(count)).map { ParticipantID(rawValue: $0) })
            let rects = try layout(slots).layers(of: scene, canvas: canvas).map(\.rect)
            #expect(rects.count == count)
            for (index, rect) in rects.enumerated() {
                #expect(PixelRect(x: 320, y: 72, width: 640, height: 504).contains(rect))
                #expect(rect.x % 2 == 0 && rect.y % 2 == 0 && rect.width % 2 == 0 && rect.height % 2 == 0)
                #expect(rects[..<index].allSatisfy { !$0.overlaps(rect) })
                #expect(abs(rect.width * 9 - rect.height * 16) <= 32, "\(rect) of \(count)")
            }
        }
    }

    @Test("slots that touch leave no gap, on any canvas")
    func touching() throws {
        let third = 1.0 / 3
        let slots = (0..<3).map { slot(#""next""#, #","x":\#(Double($0) * third),"width":\#(third)"#) }
        let layout = try layout(slots.joined(separator: ","))
        for width in stride(from: 64, through: 700, by: 7) {
            let rects = layout.layers(
                of: LayoutScene(cameras: [1, 2, 3]), canvas: VideoDimensions(width: width, height: 90)
            ).map(\.rect)
            #expect(rects.count == 3 && rects[0].x == 0 && rects[2].maxX == width & ~1)
            #expect(rects[0].maxX == rects[1].x && rects[1].maxX == rects[2].x)
        }
    }

    @Test("an empty slot is background, or gives its place to another")
    func empty() throws {
        let main = #"{"name":"main","width":0.75,"show":["speaker"]}"#
        let scene = LayoutScene(cameras: [1])
        let side = { (whenEmpty: String) in #"{"name":"side","x":0.75,"show":["screen"],"whenEmpty":\#(whenEmpty)}"# }
        let left = PixelRect(x: 0, y: 0, width: 960, height: 720)
        #expect(try layout("\(main),\(side("\"background\""))").layers(of: scene, canvas: canvas).map(\.rect) == [left])
        let enlarging = try layout("\(main),\(side("{\"enlarge\":\"main\"}"))")
        #expect(enlarging.layers(of: scene, canvas: canvas).map(\.rect) == [PixelRect(canvas)])
        let presented = LayoutScene(cameras: [1], presenters: [1])
        #expect(enlarging.layers(of: presented, canvas: canvas).first?.rect == left)
    }

    @Test("the first arrangement for as many participants and screens is used")
    func arrangements() throws {
        let template = try decodeTemplate(
            """
            {"arrangements":[
              {"screens":"1+","slots":[{"name":"a","show":["screen"]}]},
              {"participants":"1-2","slots":[{"name":"b","show":["next"]}]},
              {"participants":"3","slots":[{"name":"c","show":["next"]}]},
              {"participants":"5+","slots":[{"name":"d","show":["next"]}]}
            ]}
            """)
        func used(_ count: Int, screens: Int = 0) -> Int? {
            let cameras = (0..<UInt64(count)).map { ParticipantID(rawValue: $0) }
            let scene = LayoutScene(cameras: cameras, presenters: Array(cameras.prefix(screens)))
            return Layout.template(template).explanation(of: scene, canvas: canvas).arrangement
        }
        #expect([1, 2, 3, 4, 5, 40].map { used($0) } == [1, 1, 2, nil, 3, 3])
        #expect(used(3, screens: 1) == 0)
        let scene = LayoutScene(cameras: [1, 2, 3, 4])
        #expect(Layout.template(template).layers(of: scene, canvas: canvas).isEmpty)
    }

    @Test("a layer has its slot's appearance; a camera fills its slot, a screen share is shown completely")
    func looks() throws {
        let scene = LayoutScene(cameras: [1, 2], presenters: [2])
        let layers = try layout(
            """
            {"show":["screen"],"height":0.5,"cornerRadius":0.1,"border":{"width":0.01,"colour":"#ffffff"},"z":3},
            {"show":["next"],"y":0.5,"height":0.5,"label":false,"opacity":0.5,"focus":{"x":0.2,"y":0.3}},
            {"show":["next"],"fit":"contain"}
            """
        ).layers(of: scene, canvas: canvas)
        #expect(layers.map(\.source) == [1, 2, .screenShare(2)], "by height")
        #expect(layers[2].fit == .contain && layers[2].cornerRadius == 36 && layers[2].zOrder == 3)
        #expect(layers[2].border == LayerBorder(width: 8, colour: .white))
        #expect(layers[0].fit == .cover(focus: FocusPoint(x: 0.2, y: 0.3)) && layers[0].opacity == 0.5)
        #expect(!layers[0].isDecorated && layers[1].isDecorated)
        #expect(layers[1].fit.mode == .contain)
    }

    @Test("a view has the template's background and overlays; without their images it does without")
    func view() throws {
        let template = try decodeTemplate(fullTemplate)
        let (stage, logo) = (ImageAsset.solid("stage", 4, 4), ImageAsset.solid("logo", 4, 4))
        let scene = LayoutScene(cameras: [1, 2])
        let view = Layout.template(template, images: ImageLibrary([stage, logo])).view(of: scene, canvas: canvas)
        #expect(view.background == .image(stage))
        #expect(
            view.overlays == [
                CompositionOverlay(.image(logo), anchor: .topLeft, height: 0.1, opacity: 0.5),
                CompositionOverlay(.text("Lecture 4"), anchor: .bottom, height: 0.06),
                CompositionOverlay(.clock(utcOffset: -210), anchor: .topRight, height: 0.06),
            ])
        #expect(view.layers.count == 2)
        let bare = Layout.template(template).view(of: scene, canvas: canvas)
        #expect(bare.background == .standard && bare.overlays.count == 2)
    }

    @Test("an explanation gives each slot's participant and the reason, and the participants that are not seen")
    func explanation() throws {
        let scene = LayoutScene(cameras: [1, 2, 3], speakers: [2], names: [3: "Ada"])
        let explanation = try layout(
            """
            {"name":"main","width":0.75,"show":["screen","speaker"]},
            {"name":"guest","x":0.75,"height":0.5,"show":["participant:Ada"]},
            {"name":"screen","x":0.75,"y":0.5,"show":["screen"],"whenEmpty":{"enlarge":"guest"}}
            """
        ).explanation(of: scene, canvas: canvas)
        #expect(explanation.places.map(\.name) == ["main", "guest", "screen"])
        #expect(explanation.places.map(\.source) == [2, 3, nil])
        #expect(
            explanation.places.map(\.reason) == [
                "speaker: speaks, or spoke last", "participant:Ada: by the order of joining",
                "nobody is left for screen; its place goes to guest",
            ])
        #expect(explanation.places.map { $0.rect?.height } == [720, 720, nil])
        #expect(explanation.notShown == [1])
    }

    @Test("built-in layouts are explained as well")
    func builtIn() {
        let scene = LayoutScene(cameras: (1...12).map { ParticipantID(rawValue: $0) }, speakers: [4, 2])
        let explanation = Layout.speaker.explanation(of: scene, canvas: canvas)
        #expect(explanation.places.first?.source == 4)
        #expect(explanation.places.first?.reason == "speaks, or spoke last")
        #expect(explanation.places.contains { $0.source == 2 && $0.reason == "spoke before the speaker" })
        #expect(explanation.places.count + explanation.notShown.count == 12)
        #expect(Layout.solo(9).explanation(of: scene, canvas: canvas).places.map(\.reason) == ["is to be seen alone"])
    }
}
