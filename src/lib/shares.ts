/**
 * Bounds how much each of many callers has under way at once, so that none can take up all of what
 * they share.
 */
export class Shares {
  readonly #max: number
  readonly #underWay = new Map<string, number>()

  /** @param max of one caller */
  constructor(max: number) {
    this.#max = max
  }

  /** Runs `work`; undefined, at once, when the caller has as much under way as it may. */
  run<T>(caller: string, work: () => Promise<T>): Promise<T> | undefined {
    const end = this.take(caller)
    return end && work().finally(end)
  }

  /**
   * Begins what ends with a call, to be made once, of the function that is returned; undefined when
   * the caller has as much under way as it may.
   */
  take(caller: string): (() => void) | undefined {
    const count = this.#underWay.get(caller) ?? 0
    if (count >= this.#max) return undefined
    this.#underWay.set(caller, count + 1)
    return () => this.#end(caller)
  }

  #end(caller: string): void {
    const left = (this.#underWay.get(caller) ?? 1) - 1
    if (left === 0) this.#underWay.delete(caller)
    else this.#underWay.set(caller, left)
  }
}
