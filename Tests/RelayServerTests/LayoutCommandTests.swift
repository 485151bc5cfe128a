import ArgumentParser
import Compositing
import Foundation
import MediaCore
import RelayServer
import RoomAPI
import Testing

@testable import confrelay

@Suite("confrelay layout")
struct LayoutCommandTests {
    /// A folder that is gone with the test.
    private final class Folder {
        let path = FileManager.default.temporaryDirectory.appending(path: "layouts-\(UUID())").path

        init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(atPath: path) }

        func write(_ text: String, to name: String) throws -> String {
            let file = "\(path)/\(name)"
            try Data(text.utf8).write(to: URL(filePath: file))
            return file
        }
    }

    private func explain(_ arguments: String...) throws -> String {
        let command = try Confrelay.parse(["layout", "explain"] + arguments)
        return try #require(command as? LayoutExplainCommand).explain(wallClock: 0)
    }

    private func failure(_ arguments: String...) throws -> CommandFailure {
        let command = try Confrelay.parse(["layout", "explain"] + arguments)
        let explaining = try #require(command as? LayoutExplainCommand)
        return try #require(#expect(throws: CommandFailure.self) { try explaining.explain(wallClock: 0) })
    }

    private let template = """
        {"name": "pair", "arrangements": [{"participants": "1", "slots": [{"show": ["next"]}]}, {"slots": [
          {"name": "main", "width": 0.75, "show": ["screen", "speaker"]},
          {"name": "side", "x": 0.75, "height": 0.25, "show": ["participant:Eve"]}
        ]}]}
        """

    @Test("without a subcommand the relay is served, as ever")
    func serving() throws {
        #expect(try Confrelay.parse([]) is ConfrelayCommand)
        let command = try #require(try Confrelay.parse(["--port", "7"]) as? ConfrelayCommand)
        #expect(command.serverConfiguration.port == 7)
        let help = ConfrelayCommand.helpMessage(columns: 100)
        #expect(help.contains("--port") && help.contains("layout"))
    }

    @Test("a layout is explained by name: each tile with its place and reason, and the participants that are not shown")
    func builtIn() throws {
        let text = try explain(
            "speaker", "--participants", "11", "--speaker", "3", "--speaker", "1", "--canvas", "640x360")
        #expect(text.hasPrefix("speaker with 11 participants on 640x360\n"))
        #expect(text.contains(/tile 1 +\d+x\d+\+\d+\+\d+ +Cy +speaks, or spoke last\n/))
        #expect(text.contains("not shown: "))
        #expect(try explain("solo", "--participant", "2").contains("Ben"))
    }

    @Test("a template is explained: which rule filled each slot, which stay empty, and which arrangement it is")
    func ofTemplate() throws {
        let folder = try Folder()
        let file = try folder.write(template, to: "pair.json")
        let text = try explain(file, "--participants", "3", "--screens", "1")
        #expect(text.hasPrefix("pair with 3 participants and 1 screen on 1280x720: arrangements[1] of 2 is used\n"))
        #expect(text.contains(/main +960x720\+0\+0 +Ada's screen +screen: is the newest screen share\n/))
        #expect(text.contains(/side +320x180\+960\+0 +- +nobody is left for participant:Eve; the background is seen\n/))
        #expect(text.contains("not shown: Ada, Ben, Cy\n"))
        #expect(try explain(file, "--names", "Kim, Eve").contains(/side .* Eve +participant:Eve/))
        #expect(try explain(file, "--participants", "0").contains("nobody is left for screen, speaker"))
    }

    @Test("as JSON it is for programs")
    func json() throws {
        struct Document: Decodable {
            struct Place: Decodable {
                struct Rect: Decodable { var x, y, width, height: Int }
                struct Source: Decodable { var participant: Int, name: String, content: SourceContent }
                var name: String
                var rect: Rect?
                var source: Source?
                var reason: String
            }
            var layout: String
            var arrangement: Int?
            var places: [Place]
            var notShown: [Place.Source]
            var issues: [String]
        }
        let folder = try Folder()
        let text = try explain(folder.write(template, to: "a.json"), "--participants", "2", "--json")
        let document = try JSONDecoder().decode(Document.self, from: Data(text.utf8))
        #expect(document.layout == "pair" && document.arrangement == 1 && document.issues.isEmpty)
        #expect(document.places.map(\.name) == ["main", "side"])
        #expect(document.places[0].source?.name == "Ada" && document.places[0].rect?.width == 960)
        #expect(document.places[1].source == nil)
        #expect(document.notShown.map(\.name) == ["Ben"])
    }

    @Test("the picture is a PNG of the canvas's size")
    func picture() throws {
        let folder = try Folder()
        _ = try explain("grid", "--canvas", "320x180", "--shape", "4:3", "-o", folder.path + "/out.png")
        let image = try ImageAsset(name: "out", contentsOfPNG: folder.path + "/out.png")
        #expect(image.picture.dimensions.width == 320 && image.picture.dimensions.height == 180)
    }

    @Test("each mistake of a template is a line with its place, and the code is 65")
    func wrong() throws {
        let folder = try Folder()
        let file = try folder.write(
            #"{"slots": [{"show": ["me"]}, {"width": 2, "show": ["next"]}]}"#, to: "wrong.json")
        let failure = try failure(file)
        #expect(failure.exit == .dataError)
        #expect(failure.messages.count == 2)
        #expect(failure.messages[0].hasPrefix("\(file): slots[0].show[0]: \"me\" is not possible; give screen, "))
        #expect(failure.messages[1].hasPrefix("\(file): slots[1].width: 2 is not possible; give a number from "))

        let noJSON = try self.failure(folder.write("{", to: "no.json"))
        #expect(noJSON.exit == .dataError && noJSON.messages[0].contains("this is not JSON"))

        let images = try self.failure(
            folder.write(#"{"background": {"image": "x"}, "slots": [{"show": ["next"]}]}"#, to: "i.json"))
        #expect(images.exit == .dataError)
        #expect(images.messages.first?.hasSuffix("background.image: there is no image \"x\"; there are none") == true)
    }

    @Test("unreadable files give exit code 66, unwritable ones 73")
    func files() throws {
        #expect(try failure("nosuch").exit == .noInput)
        let folder = try Folder()
        #expect(try failure(folder.write(template, to: "a.json"), "--images", folder.path + "/none").exit == .noInput)
        #expect(try failure("grid", "--canvas", "64x64", "-o", folder.path + "/none/a.png").exit == .cannotCreate)
    }

    @Test(
        "wrong options are refused",
        arguments: [
            ["--participants", "65"], ["--participants", "-1"], ["--screens", "5"], ["--speaker", "5"],
            ["--canvas", "3x3"],
            ["--shape", "round"], ["--participant", "0"],
        ])
    func options(arguments: [String]) {
        #expect(throws: (any Error).self) {
            try Confrelay.parse(["layout", "explain", "grid"] + arguments)
        }
    }

    @Test("all built-in layouts are listed")
    func list() throws {
        let command = try #require(try Confrelay.parse(["layout", "list"]) as? LayoutListCommand)
        let lines = command.text.split(separator: "\n")
        #expect(lines.count == LayoutMode.Name.builtIn.count)
        for line in lines {
            let name = try #require(line.split(separator: " ").first)
            #expect(try !explain(String(name)).isEmpty)
        }
    }
}
