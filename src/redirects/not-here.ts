import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RequestTarget } from '../platform/http/request-target.ts'
import { HttpExchange } from './exchange.ts'
import { sendPage } from './respond.ts'

/**
 * Answers every request for a link on a node that does not redirect, with "Misdirected Request" (RFC
 * 9110, section 15.5.20), which reveals nothing about the link.
 */
export function answerElsewhere(
  request: IncomingMessage,
  response: ServerResponse,
  target: RequestTarget,
): void {
  request.resume()
  sendPage(new HttpExchange(request, response, target), 421, { kind: 'elsewhere' })
}
