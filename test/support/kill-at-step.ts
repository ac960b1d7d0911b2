/**
 * Preloaded (`node --import`) into a command of the product: kills it when it takes a given step, which is a commit in the
 * main database or a request to ClickHouse, before or after it is taken.
 */
import http from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'

const at = Number(process.env.KILL_AT_STEP)
let steps = 0

/** Every second step is over when it kills. */
function step(): (() => void) | undefined {
  steps += 1
  if (steps !== at) return undefined
  if (steps % 2 === 0) die()
  return die
}

function die(): never {
  process.kill(process.pid, 'SIGKILL')
  throw new Error('killed')
}

const realRequest = http.request
Object.assign(http, {
  request(...args: Parameters<typeof realRequest>) {
    const after = step()
    const request = Reflect.apply(realRequest, http, args)
    if (after !== undefined) request.on('response', after)
    return request
  },
})

const realExec = DatabaseSync.prototype.exec
DatabaseSync.prototype.exec = function (this: DatabaseSync, text: string) {
  const after = text === 'commit' ? step() : undefined
  realExec.call(this, text)
  after?.()
}

const realQuery = pg.Client.prototype.query as (...args: unknown[]) => Promise<unknown>
Object.assign(pg.Client.prototype, {
  query(this: pg.Client, ...args: unknown[]) {
    const [query] = args as [string | { text?: string }]
    const text = typeof query === 'string' ? query : (query.text ?? '')
    const after = text === 'commit' ? step() : undefined
    const result = Reflect.apply(realQuery, this, args)
    return after === undefined ? result : result.then(after)
  },
})
