import type { Clock } from '../../src/platform/time/clock.ts'

/** A clock that stands still until it is moved, forwards or back. */
export type FakeClock = Clock & { move(seconds: number): void }

export function fakeClock(startMs = Date.UTC(2026, 0, 1)): FakeClock {
  let micros = startMs * 1_000
  return {
    nowMicros: () => micros,
    move(seconds) {
      micros += seconds * 1_000_000
    },
  }
}
