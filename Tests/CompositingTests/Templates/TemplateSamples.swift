import Foundation
import MediaCore

@testable import Compositing

/// A template with every key that there is.
let fullTemplate = """
    {
      "name": "everything",
      "background": {"image": "stage"},
      "arrangements": [
        {"participants": "0-1", "slots": [{"show": ["next"]}]},
        {"participants": "2+", "screens": "0-3", "slots": [
          {"name": "main", "x": 0, "y": 0.1, "width": 0.75, "height": 0.8, "show": ["screen", "speaker"],
           "fit": "contain", "cornerRadius": 0.05, "border": {"width": 0.01, "colour": "#ff8000"}, "opacity": 0.9,
           "z": 2, "label": false},
          {"name": "ada", "x": 0.75, "width": 0.25, "height": 0.25, "show": ["participant:Ada", "screen:Ada"],
           "fit": "cover", "focus": {"x": 0.5, "y": 0.25}, "whenEmpty": {"enlarge": "main"}},
          {"name": "rest", "x": 0.75, "y": 0.25, "show": ["previous-speaker", "recent", "next"], "tiles": "grid",
           "most": 9, "gap": 0.02, "whenEmpty": "background"}
        ]}
      ],
      "overlays": [
        {"image": "logo", "anchor": "top-left", "height": 0.1, "opacity": 0.5},
        {"text": "Lecture 4", "anchor": "bottom"},
        {"clock": "-03:30"}
      ]
    }
    """

func decodeTemplate(_ json: String) throws -> LayoutTemplate {
    try JSONDecoder().decode(LayoutTemplate.self, from: Data(json.utf8))
}

/// The issues of a wrong template; nil for a right one.
func templateIssues(_ json: String) throws -> [LayoutTemplateError.Issue]? {
    do {
        _ = try decodeTemplate(json)
        return nil
    } catch let error as LayoutTemplateError {
        return error.issues
    }
}
