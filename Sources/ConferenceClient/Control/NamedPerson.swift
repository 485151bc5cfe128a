import RoomAPI

/// A person whom a command names as the room does, or by id.
protocol NamedPerson {
    var id: String { get }
    var name: String { get }
}

extension RoomReport.Member: NamedPerson {}
extension WaitingPerson: NamedPerson {}
extension PlayerDescription: NamedPerson {}

extension Array where Element: NamedPerson {
    /// Returns the id of the person with this name or id. A name in other case is good if nobody has it as it is.
    ///
    /// - Parameter place: The place of these people, such as "in the room", for errors.
    /// - Throws: `ClientError.usage` if there is none, or several.
    func id(of name: String, _ place: String) throws(ClientError) -> String {
        if contains(where: { $0.id == name }) { return name }
        let exact = filter { $0.name == name }
        let found = exact.isEmpty ? filter { $0.name.lowercased() == name.lowercased() } : exact
        guard let only = found.first else {
            let names = map { $0.name }.joined(separator: ", ")
            throw .usage(
                reason: "nobody \(place) is called '\(name)'" + (names.isEmpty ? "" : "; present are \(names)"))
        }
        guard found.count == 1 else {
            let ids = found.map { $0.id }.joined(separator: ", ")
            throw .usage(reason: "\(found.count) people \(place) are called '\(name)'; give the id of one: \(ids)")
        }
        return only.id
    }
}
