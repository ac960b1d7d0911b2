import { z } from 'zod'

const counts = z.object({
  kind: z.literal('counts'),
  counts: z.array(z.tuple([z.string(), z.string(), z.number()]).readonly()).readonly(),
})

const toWorker = z.discriminatedUnion('kind', [
  counts,
  z.object({ kind: z.literal('stop'), idleGraceMs: z.number() }),
])

const toSupervisor = z.discriminatedUnion('kind', [
  counts,
  /** With what is to be shown to whoever started the service. */
  z.object({ kind: z.literal('ready'), greeting: z.string() }),
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
