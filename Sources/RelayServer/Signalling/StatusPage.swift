import Conference

/// The page that a browser gets at `/`: which rooms there are and who is in them.
struct StatusPage {
    let rooms: [RoomSnapshot]

    var html: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>confrelay</title>
        <style>
        body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
        table { border-collapse: collapse; width: 100%; }
        th, td { border-bottom: 1px solid #ccc; padding: .3rem .6rem; text-align: left; }
        td.number, th.number { text-align: right; }
        </style>
        </head>
        <body>
        <h1>confrelay \(RelayVersion.current)</h1>
        \(rooms.isEmpty ? "<p>No room is open.</p>" : rooms.map(Self.section).joined(separator: "\n"))
        <p><a href="/rooms">Rooms as JSON</a> · <a href="/metrics">Metrics</a></p>
        </body>
        </html>

        """
    }

    private static func section(_ room: RoomSnapshot) -> String {
        """
        <h2>\(escape(room.id))</h2>
        <table>
        <tr><th>Name</th><th>Role</th><th class="number">Sends</th><th class="number">Gets</th>\
        <th class="number">Loss</th><th class="number">RTT</th></tr>
        \(room.participants.map(row).joined(separator: "\n"))
        </table>
        """
    }

    private static func row(_ participant: ParticipantSnapshot) -> String {
        let cells = [
            kilobits(participant.uplink.bitRate), kilobits(participant.downlink.bitRate),
            "\((participant.downlink.loss * 1000).rounded() / 10) %",
            participant.roundTripTime.map { "\(($0 * 10).rounded() / 10) ms" } ?? "–",
        ]
        let numbers = cells.map { "<td class=\"number\">\($0)</td>" }.joined()
        return "<tr><td>\(escape(participant.name))</td><td>\(escape(participant.role))</td>\(numbers)</tr>"
    }

    private static func kilobits(_ bitRate: Int64) -> String {
        "\(bitRate / 1000) kbit/s"
    }

    /// The text with the characters that mean something in HTML written as entities.
    static func escape(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
