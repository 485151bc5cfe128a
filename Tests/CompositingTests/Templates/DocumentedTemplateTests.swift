import Foundation
import MediaCore
import MediaFixtures
import Testing

@testable import Compositing

/// The templates of docs/templates.md, whose pictures are written where `CONFRELAY_PICTURE_DIR` names a folder.
@Suite("Documented templates")
struct DocumentedTemplateTests {
    private static let docs = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "docs")
    private static let files = ((try? FileManager.default.contentsOfDirectory(atPath: docs.path + "/templates")) ?? [])
        .filter { $0.hasSuffix(".json") }.sorted()

    private func template(_ file: String) throws -> LayoutTemplate {
        try decodeTemplate(String(contentsOf: Self.docs.appending(path: "templates/\(file)"), encoding: .utf8))
    }

    private func images() throws -> ImageLibrary {
        try ImageLibrary(folder: Self.docs.appending(path: "templates/images").path)
    }

    @Test("there are several, and the document shows each and explains each key")
    func listed() throws {
        #expect(Self.files.count >= 4)
        let text = try String(contentsOf: Self.docs.appending(path: "templates.md"), encoding: .utf8)
        for file in Self.files {
            #expect(text.contains("templates/\(file)"))
            #expect(text.contains("images/template-\(file.dropLast(5)).png"))
        }
        let keys = [
            "name", "background", "slots", "arrangements", "overlays", "participants", "screens", "x", "y", "width",
            "height",
            "show", "tiles", "most", "gap", "fit", "focus", "cornerRadius", "border", "opacity", "z", "label",
            "whenEmpty",
            "text", "image", "clock", "anchor",
        ]
        for key in keys { #expect(text.contains("`\(key)`"), "\(key)") }
    }

    @Test("each is right, asks for images that are there, and shows people on any canvas", arguments: files)
    func drawn(file: String) throws {
        let template = try template(file)
        let images = try images()
        #expect(template.error(ofImagesIn: images) == nil)
        let layout = Layout.template(template, images: images)
        for canvas in [VideoDimensions(width: 320, height: 180), VideoDimensions(width: 180, height: 320)] {
            for count in [0, 1, 2, 4, 7] {
                for screens in [0, 1] {
                    let preview = LayoutPreview(participants: count, screens: screens, speakers: [3, 2])
                    let layers = layout.layers(of: preview.scene, canvas: canvas)
                    #expect(layers.isEmpty == (count == 0))
                    #expect(layers.allSatisfy { PixelRect(canvas).contains($0.rect) })
                }
            }
        }
        let canvas =
            file == "portrait.json"
            ? VideoDimensions(width: 360, height: 640) : VideoDimensions(width: 640, height: 360)
        let preview = LayoutPreview(participants: 7, screens: file == "lecture.json" ? 1 : 0, speakers: [3, 2])
        let picture = try #require(preview.picture(of: layout, canvas: canvas, wallClock: 1_700_000_000))
        for layer in layout.layers(of: preview.scene, canvas: canvas) where layer.source.content == .camera {
            #expect(picture.colour(atCentreOf: layer.rect) != picture.colour(x: 0, y: 0), "\(layer.source)")
        }
        if let folder = ProcessInfo.processInfo.environment["CONFRELAY_PICTURE_DIR"] {
            try picture.writePNG(to: "\(folder)/template-\(file.dropLast(5)).png")
        }
    }
}
