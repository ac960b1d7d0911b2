import { z } from 'zod'

const counts = z.object({
  kind: z.literal('counts'),
  counts: z.array(z.tuple([z.string(), z.string(), z.number()]).readonly()).readonly(),
})

const toWorker = z.discriminatedUnion('kind', [
  counts,
  z.object({ kind: z.literal('stop'), delayMs: z.number() }),
  /** To be answered with `answer` and the same number. */
  z.object({ kind: z.literal('question'), broadcast: z.number() }),
  z.object({ kind: z.literal('answers'), texts: z.array(z.string()) }),
])

const toSupervisor = z.discriminatedUnion('kind', [
  counts,
  /** With what is to be shown to whoever started the service. */
  z.object({ kind: z.literal('ready'), greeting: z.string() }),
  /** Somebody wanted to know whether the service is ready. */
  z.object({ kind: z.literal('probed') }),
  /** Asks all processes; to be answered with `answers`. */
  z.object({ kind: z.literal('ask') }),
  z.object({ kind: z.literal('answer'), broadcast: z.number(), text: z.string() }),
])

export type ToWorker = z.output<typeof toWorker>
export type ToSupervisor = z.output<typeof toSupervisor>

/** Undefined for what was not meant for a worker. */
export function parseToWorker(message: unknown): ToWorker | undefined {
  return toWorker.safeParse(message).data
}

/** Undefined for what was not meant for the supervisor. */
export function parseToSupervisor(message: unknown): ToSupervisor | undefined {
  return toSupervisor.safeParse(message).data
}
