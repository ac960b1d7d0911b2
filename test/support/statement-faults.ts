import { DatabaseSync, StatementSync } from 'node:sqlite'
import pg from 'pg'

/** A loss of the database, caused by a test. */
export class WantedFault extends Error {
  override readonly name = 'WantedFault'
}

/** The circuit breaker's statement after a failure, which runs beside those of the work. */
const PROBE = 'select 1'

type Run = (...parameters: unknown[]) => unknown

/**
 * Makes statements fail, on both engines and wherever they are run in this process: each counts as
 * two steps, one before the database has run it and one after, when its answer is lost. A rollback
 * never fails, because a lost database rolls back by itself, nor does a probe of the connection, or the statement by
 * which a connection that was lost asks for notices once more, beside those of the work.
 */
export function failStatements(failsAt: (step: number) => boolean) {
  const restore: (() => void)[] = []
  let steps = 0

  function step(): void {
    steps += 1
    if (failsAt(steps)) throw new WantedFault(`step ${steps}`)
  }

  function replace<T extends object>(
    target: T,
    method: keyof T & string,
    isCounted: (text: unknown) => boolean,
  ): void {
    const real = target[method] as Run
    const failing = function (this: unknown, ...parameters: unknown[]) {
      const [text] = parameters
      if (!isCounted(text)) return Reflect.apply(real, this, parameters)
      step()
      const result = Reflect.apply(real, this, parameters)
      if (result instanceof Promise) {
        return result.then((value) => {
          step()
          return value
        })
      }
      step()
      return result
    }
    Object.assign(target, { [method]: failing })
    restore.push(() => Object.assign(target, { [method]: real }))
  }

  const isStep = (text: unknown) => {
    const sql = typeof text === 'object' && text !== null && 'text' in text ? text.text : text
    return sql !== 'rollback' && sql !== PROBE && !/^listen /.test(String(sql))
  }
  for (const method of ['run', 'get', 'all'] as const) {
    replace(StatementSync.prototype, method, () => true)
  }
  replace(DatabaseSync.prototype, 'exec', isStep)
  replace(pg.Client.prototype, 'query', isStep)
  return {
    steps: () => steps,
    mend() {
      for (const undo of restore) undo()
    },
  }
}
