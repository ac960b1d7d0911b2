import { after, before, describe } from 'node:test'
import { type Api, apiClient } from './api.ts'
import { ENGINES } from './engines.ts'
import { type Service, startService } from './service.ts'

/** What the tests of one engine share. Set before the first of them runs. */
export type Stage = {
  service: Service
  /** A token of the workspace `acme`, with every scope. */
  token: string
  /** A client with that token. */
  api: Api
}

/** Describes the same behaviour on every engine, with one service for each. */
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
        stage.token = await stage.service.token()
        stage.api = apiClient(stage.service.baseUrl, stage.token)
      })
      after(() => stage.service.stop())
      tests(stage)
    })
  }
}
