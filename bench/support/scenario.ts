import type { Generator } from '../load/generator.ts'

/** What a number must not exceed, or must reach. */
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
  /** Of the nginx that is installed, if any. */
  readonly nginx: string | undefined
  readonly rounds: number
  /** Of each load. */
  readonly seconds: number
}

export type Scenario = {
  readonly name: string
  readonly description: string
  run(bench: Bench): Promise<Outcome>
}
