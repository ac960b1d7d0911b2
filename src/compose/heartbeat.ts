import { hostname } from 'node:os'
import type { Logger } from 'pino'
import type { ClickIntake } from '../clicks/click-intake.ts'
import type { JournalBacklog } from '../clicks/journal/journal-backlog.ts'
import { BEAT_INTERVAL_MS } from '../domain/nodes/node.ts'
import type { Nodes } from '../domain/nodes/nodes.ts'
import type { Clock } from '../lib/clock.ts'
import { VERSION } from '../lib/version.ts'

/** Says again and again that this node is there, and tells in the log of those that are not any more. */
export function startHeartbeat(parts: {
  nodes: Nodes
  intake: ClickIntake
  clock: Clock
  /** This process's number on the machine. */
  process: number
  log: Logger
}): { readonly stop: (left: JournalBacklog) => Promise<void> } {
  const { nodes, intake, log } = parts
  const started_at = parts.clock.nowMicros()
  let lastBeatAt: number | undefined
  let isFailing = false
  let beating = beat()

  async function beat(): Promise<void> {
    try {
      await sayHere(intake.backlog())
      for (const { id, name, process, version, beat_at, backlog_bytes } of await nodes.takeLost()) {
        const lastSeen = new Date(beat_at / 1_000).toISOString()
        const lost = { node: id, name, process, version, lastSeen, backlogBytes: backlog_bytes }
        log.error(lost, 'a node is gone; if it does not come back: terse journal replay')
      }
      isFailing = false
    } catch (error) {
      if (!isFailing) log.warn({ err: error }, 'the database is not told that this node is there')
      isFailing = true
    }
  }

  async function sayHere({ bytes, oldestMicros }: JournalBacklog): Promise<void> {
    lastBeatAt = await nodes.beat({
      id: intake.journalId,
      name: hostname(),
      process: parts.process,
      version: VERSION,
      started_at,
      backlog_bytes: bytes,
      oldest_click_at: oldestMicros ?? null,
    })
  }

  const timer = setInterval(() => {
    beating = beating.then(beat)
  }, BEAT_INTERVAL_MS)
  timer.unref()
  return {
    /** To be called once the intake has stopped: a node that leaves nothing behind is not missed. */
    async stop(left) {
      clearInterval(timer)
      await beating
      try {
        if (left.bytes === 0) await nodes.leave(intake.journalId, lastBeatAt)
        else await sayHere(left)
      } catch (error) {
        log.warn({ err: error }, 'the database is not told that this node has stopped')
      }
    },
  }
}
