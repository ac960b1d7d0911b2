import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

/** A listener that is there before what it calls. */
export type DeferredListener = {
  readonly listener: RequestListener
  /** Answers what has waited, and everything from here on. */
  open(target: RequestListener): void
}

/** Lets a server listen while what answers some of its requests is still being made. */
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
