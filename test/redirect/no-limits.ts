import assert from 'node:assert/strict'
import type { ClickLimits } from '../../src/clicks/limits/click-limits.ts'

/** For links without limits. */
export function noLimits(): ClickLimits {
  return {
    take: () => assert.fail('no link has a limit'),
    giveBack: () => assert.fail('no link has a limit'),
    isUsedUp: () => assert.fail('no link has a limit'),
  }
}
