import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1

/// Answers every refusal and failure with a problem document, and logs failures that are the server's own.
struct ProblemMiddleware: RouterMiddleware {
    func handle(
        _ request: Request, context: SignallingContext, next: (Request, SignallingContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let problem as Problem {
            return try problem.response
        } catch let error as HTTPParserError {
            // The connection is not speaking HTTP (any more); the server answers that itself and closes it.
            throw error
        } catch let error as HTTPError where error.status == .notFound {
            return try Problem(.notFound, "there is nothing at \(request.uri.path)").response
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
}
