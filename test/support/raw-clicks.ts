import type { ClickScope, RawClick } from '../../src/domain/clicks/click-reports.ts'
import type { Store } from '../../src/domain/store.ts'

/** All raw clicks of a scope that an export would give. */
export async function rawClicksOf(store: Store, scope: ClickScope): Promise<RawClick[]> {
  const found: RawClick[] = []
  const tomorrow = (Date.now() + 2 * 86_400_000) * 1_000
  for await (const page of store.read.reports.rawClicks(scope, 0, tomorrow)) found.push(...page)
  return found
}
