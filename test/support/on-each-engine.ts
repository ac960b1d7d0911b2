import { after, before, describe } from 'node:test'
import type { Api } from './api.ts'
import { ENGINES } from './engines.ts'
import { type Service, startService } from './service.ts'

/** What the tests of one engine share. Filled in before the first of them runs. */
export type Stage = {
  service: Service
  /** Speaks for the workspace `acme`. */
  api: Api
}

/** Describes the same behaviour on every engine, over one service for each. */
export function onEachEngine(
  title: string,
  tests: (stage: Stage) => void,
  settings: Readonly<Record<string, string>> = {},
): void {
  for (const engine of ENGINES) {
    describe(`${title} on ${engine.name}`, () => {
      const stage = {} as Stage
      before(async () => {
        stage.service = await startService(engine, settings)
        stage.api = await stage.service.api()
      })
      after(() => stage.service.stop())
      tests(stage)
    })
  }
}
