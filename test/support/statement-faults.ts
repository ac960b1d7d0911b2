import { DatabaseSync, StatementSync } from 'node:sqlite'
import pg from 'pg'

/** A loss of the database, caused by a test. */
export class WantedFault extends Error {
  override readonly name = 'WantedFault'
}

type Run = (...parameters: unknown[]) => unknown

/**
 * Makes statements fail, on both engines and wherever they are run in this process: each counts as
 * two steps, one before the database has run it and one after, when its answer is lost. A rollback
 * never fails, because a lost database rolls back by itself.
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
    isStep: (text: unknown) => boolean,
  ): void {
    const real = target[method] as Run
    const failing = function (this: unknown, ...parameters: unknown[]) {
      const [text] = parameters
      if (!isStep(text)) return Reflect.apply(real, this, parameters)
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

  const isNotUndoing = (text: unknown) => {
    const sql = typeof text === 'object' && text !== null && 'text' in text ? text.text : text
    return sql !== 'rollback'
  }
  for (const method of ['run', 'get', 'all'] as const) {
    replace(StatementSync.prototype, method, () => true)
  }
  replace(DatabaseSync.prototype, 'exec', isNotUndoing)
  replace(pg.Client.prototype, 'query', isNotUndoing)
  return {
    steps: () => steps,
    mend() {
      for (const undo of restore) undo()
    },
  }
}
