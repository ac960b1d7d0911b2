import type { Generator } from '../load/generator.ts'

/** A number with an upper or a lower limit. */
export type Target = {
  readonly what: string
  readonly value: number
  readonly atMost?: number
  readonly atLeast?: number
}

export type Outcome = {
  readonly rows: readonly Readonly<Record<string, unknown>>[]
  readonly targets: readonly Target[]
  /** What could not be measured, and why. */
  readonly missing: readonly string[]
}

export type Bench = {
  readonly generator: Generator
  /** The version of the installed nginx, if any. */
  readonly nginx: string | undefined
  readonly rounds: number
  /** The duration of each load. */
  readonly seconds: number
}

export type Scenario = {
  readonly name: string
  readonly description: string
  run(bench: Bench): Promise<Outcome>
}
