import ArgumentParser
import Foundation
import LinkEmulation
import Simulation

/// A link that the command line names: a trace, or a description.
struct NamedLink {
    var name: String
    var profile: LinkProfile

    /// Returns the links to simulate: each trace, with all but the rate from the description; or, without traces, the
    /// described link.
    static func read(traces: [String], description: String?) throws -> [NamedLink] {
        let described = try description.map { try read(description: $0) }
        guard !traces.isEmpty else { return described.map { [NamedLink(name: description ?? "", profile: $0)] } ?? [] }
        return try zip(traces, names(of: traces)).map { path, name in
            var profile = described ?? LinkProfile(delay: .milliseconds(20))
            if case .unlimited = profile.rate {
            } else {
                throw ValidationError("A trace and --link with a rate exclude each other; give one of them.")
            }
            do throws(LinkProfileError) {
                profile.rate = try LinkRate(parsingTrace: try readTrace(path))
            } catch {
                // An error of reading names the file itself.
                if case .unreadableTrace = error { throw InputError.unusable("\(error)") }
                throw InputError.unusable("\(path): \(error)")
            }
            return NamedLink(name: name, profile: profile)
        }
    }

    /// Returns a name for each file: the last part of its path or, where files in different folders share that, the
    /// path.
    static func names(of paths: [String]) -> [String] {
        let short = paths.map { URL(fileURLWithPath: $0).lastPathComponent }
        var longer: [String: Set<String>] = [:]
        for (name, path) in zip(short, paths) { longer[name, default: []].insert(path) }
        return zip(short, paths).map { name, path in longer[name, default: []].count > 1 ? path : name }
    }

    private static func read(description: String) throws -> LinkProfile {
        do throws(LinkProfileError) {
            return try LinkProfile(parsing: description, readTrace: readTrace)
        } catch {
            switch error {
            case .unreadableTrace, .invalidTrace, .invalidRateTable: throw InputError.unusable("--link: \(error)")
            default: throw ValidationError("--link: \(error)")
            }
        }
    }

    private static func readTrace(_ path: String) throws(LinkProfileError) -> String {
        do {
            return try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
        } catch {
            throw .unreadableTrace(path: path, reason: UnreadableFile.reason(error))
        }
    }
}
