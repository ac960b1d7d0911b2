import { after, before, describe } from 'node:test'
import { type Api, apiClient } from './api.ts'
import { ENGINES, type Engine, SQLITE } from './engines.ts'
import { type Service, type ServiceOptions, startService } from './service.ts'

/** What the tests of one engine share. Set before the first of them runs. */
export type Stage = {
  service: Service
  /** A token of the workspace `acme`, with every scope. */
  token: string
  /** A client with that token. */
  api: Api
}

/**
 * Describes behaviour that the engine may change: what is stored, found, counted, done at the same time or repeated.
 * Each engine has one service.
 */
export function onEachEngine(
  title: string,
  tests: (stage: Stage) => void,
  settings: Readonly<Record<string, string>> = {},
): void {
  for (const engine of ENGINES) {
    describeOn(engine, `${title} on ${engine.title}`, tests, settings)
  }
}

/** Describes behaviour in which storage plays no part: checks of input, pages of lists, headers, texts, formats. */
export function onSqlite(
  title: string,
  tests: (stage: Stage) => void,
  settings: Readonly<Record<string, string>> = {},
  options: ServiceOptions = {},
): void {
  describeOn(SQLITE, title, tests, settings, options)
}

function describeOn(
  engine: Engine,
  title: string,
  tests: (stage: Stage) => void,
  settings: Readonly<Record<string, string>>,
  options?: ServiceOptions,
): void {
  describe(title, () => {
    const stage = {} as Stage
    before(async () => {
      stage.service = await startService(engine, settings, options)
      stage.token = await stage.service.token()
      stage.api = apiClient(stage.service.baseUrl, stage.token)
    })
    after(() => stage.service.stop())
    tests(stage)
  })
}
