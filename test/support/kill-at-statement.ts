/**
 * Preloaded (`node --import`) into a process of the product: kills it at the statement that begins
 * with `KILL_AT`, before or after the database has run it, as a crash at the worst moment would.
 */
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'

const { KILL_AT = '', KILL_WHEN = 'before' } = process.env

function die(): never {
  process.kill(process.pid, 'SIGKILL')
  throw new Error('killed')
}

const isIt = (text: string) => text.trimStart().startsWith(KILL_AT)

for (const method of ['exec', 'prepare'] as const) {
  const real = DatabaseSync.prototype[method] as (text: string) => unknown
  Object.assign(DatabaseSync.prototype, {
    [method](this: DatabaseSync, text: string) {
      if (isIt(text) && KILL_WHEN === 'before') die()
      const result = Reflect.apply(real, this, [text])
      if (isIt(text)) die()
      return result
    },
  })
}

const realQuery = pg.Client.prototype.query as (...args: unknown[]) => Promise<unknown>
Object.assign(pg.Client.prototype, {
  query(this: pg.Client, ...args: unknown[]) {
    const [query] = args as [string | { text?: string }]
    const it = isIt(typeof query === 'string' ? query : (query.text ?? ''))
    if (it && KILL_WHEN === 'before') die()
    const result = Reflect.apply(realQuery, this, args)
    return it ? result.then(die) : result
  },
})
