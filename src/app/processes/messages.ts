import { z } from 'zod'

const counts = z.object({
  kind: z.literal('counts'),
  counts: z.array(z.tuple([z.string(), z.string(), z.number()]).readonly()).readonly(),
})

const toWorker = z.discriminatedUnion('kind', [
  counts,
  z.object({ kind: z.literal('stop'), delayMs: z.number() }),
  /** Requires an `answer` with the same number. */
  z.object({ kind: z.literal('question'), broadcast: z.number() }),
  z.object({ kind: z.literal('answers'), texts: z.array(z.string()) }),
])

const toSupervisor = z.discriminatedUnion('kind', [
  counts,
  /** With the greeting to print in the terminal that started the service. */
  z.object({ kind: z.literal('ready'), greeting: z.string() }),
  /** A balancer has requested the readiness of the service. */
  z.object({ kind: z.literal('probed') }),
  /** Requires a broadcast to all processes, and `answers` with what they returned. */
  z.object({ kind: z.literal('ask') }),
  z.object({ kind: z.literal('answer'), broadcast: z.number(), text: z.string() }),
])

export type ToWorker = z.output<typeof toWorker>
export type ToSupervisor = z.output<typeof toSupervisor>

/** Returns undefined for a message that is not for a worker. */
export function parseToWorker(message: unknown): ToWorker | undefined {
  return toWorker.safeParse(message).data
}

/** Returns undefined for a message that is not for the supervisor. */
export function parseToSupervisor(message: unknown): ToSupervisor | undefined {
  return toSupervisor.safeParse(message).data
}
