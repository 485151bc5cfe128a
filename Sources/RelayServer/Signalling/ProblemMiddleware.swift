import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1

/// Answers every refusal and failure with a problem document, and logs failures that are the server's own.
struct ProblemMiddleware: RouterMiddleware {
    /// What people get who follow a link that leads nowhere; nil: the problem, as programs.
    var page: SignallingRouter.Handler?

    func handle(
        _ request: Request, context: SignallingContext, next: (Request, SignallingContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let problem as Problem {
            return try await answer(problem, to: request, context, isMistyped: Self.namesNoRoom(problem, request))
        } catch let error as HTTPParserError {
            // The connection is not speaking HTTP (any more); the server answers that itself and closes it.
            throw error
        } catch let error as HTTPError where error.status == .notFound {
            let problem = Problem(.notFound, "there is nothing at \(request.uri.path)")
            return try await answer(problem, to: request, context, isMistyped: true)
        } catch let error as any HTTPResponseError {
            return try Problem(error.status, error.status.reasonPhrase).response
        } catch  where error is CancellationError || error is IOError || error is ChannelError {
            // The connection went away, or the relay is ending; nobody waits for an answer.
            throw error
        } catch {
            context.logger.error("request failed", metadata: ["error": "\(error)", "path": "\(request.uri.path)"])
            return try Problem(.internalServerError, "the relay failed to answer; its log says why").response
        }
    }

    private func answer(
        _ problem: Problem, to request: Request, _ context: SignallingContext, isMistyped: Bool
    ) async throws -> Response {
        guard let page, isMistyped, request.method == .get else { return try problem.response }
        var response = try problem.response
        if AcceptedTypes(request.headers[.accept]).prefersHTML, let html = try? await page(request, context) {
            response = html
            // A browser that has it already is told so.
            if html.status == .ok { response.status = problem.status }
        }
        response.headers[.vary] = "Accept"
        return response
    }

    /// True if the path is that of a room whose name is not acceptable.
    private static func namesNoRoom(_ problem: Problem, _ request: Request) -> Bool {
        let segments = request.uri.path.split(separator: "/")
        return problem.status == .badRequest && segments.count == 2 && segments[0] == "rooms"
    }
}
