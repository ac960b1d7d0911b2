import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

/** A request listener whose target is set later. */
export type DeferredListener = {
  readonly listener: RequestListener
  /** Passes all waiting requests to `target`, and every later one. */
  open(target: RequestListener): void
}

/** Lets a server listen while the code that answers some of its requests is still loading. */
export function deferredListener(): DeferredListener {
  const waiting: (readonly [IncomingMessage, ServerResponse])[] = []
  let answer: RequestListener = (request, response) => {
    waiting.push([request, response])
  }
  return {
    listener: (request, response) => answer(request, response),
    open(target) {
      answer = target
      for (const [request, response] of waiting.splice(0)) target(request, response)
    },
  }
}
