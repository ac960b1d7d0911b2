import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { type AppDependencies, buildApp } from '../../src/app/api/app.ts'
import { CHART_QUEUE, Clicks, EXPORT_QUEUE } from '../../src/clicks/report/clicks.ts'
import type { DayOfClicks, RawClick } from '../../src/clicks/report/day-of-clicks.ts'
import { commandLine } from '../../src/identity/actor.ts'
import { Failure } from '../../src/platform/failure.ts'
import { ApiMeter } from '../../src/platform/http/api/request-timing.ts'
import { createFront } from '../../src/platform/http/front.ts'
import { Throttle } from '../../src/platform/limits/throttle.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import { FairQueue } from '../../src/platform/work/fair-queue.ts'
import { someClick } from '../support/clicks.ts'

export const CLICK: RawClick = {
  ...someClick({ at: 1_795_169_210_123_456, link_seq: 1, visitor: 0xabcdef, country: 'DE' }),
  link_id: '01a1f86c-0000-7000-8000-000000000000',
  key: 'spring',
  host: 'localhost',
}

export type ExportServer = {
  readonly server: Server
  readonly url: string
  readonly exports: FairQueue
  readonly charts: FairQueue
  /** The clicks that the next exports read. */
  batches: () => AsyncIterable<readonly RawClick[]>
  /** What the next charts read, a month at a time. */
  readDays: () => Promise<readonly DayOfClicks[]>
  /** Whether the token of all requests was revoked. */
  isRevoked: boolean
  stop(): Promise<void>
}

/** The API’s exports and charts over clicks that the test generates while they are read. */
export async function startExportServer(): Promise<ExportServer> {
  const clock = systemClock()
  const exports = new FairQueue(EXPORT_QUEUE)
  const charts = new FairQueue(CHART_QUEUE)
  const reports = {
    daysPerRead: { total: 366, values: 31, valuesWithSlots: 7 },
    rawClicks: () => exportServer.batches(),
    readDays: () => exportServer.readDays(),
  }
  const services = {
    clicks: new Clicks({
      conversions: { visitsByVariant: async () => [] },
      store: { read: { reports } },
      clock,
      retentionDays: 1,
      exports,
      charts,
    } as unknown as ConstructorParameters<typeof Clicks>[0]),
    baseUrl: 'http://localhost',
    countedUntil: async () => null,
  }
  const deps = {
    api: services,
    authenticator: {
      authenticate: async () => {
        if (exportServer.isRevoked) throw Failure.unauthorized({ code: 'invalid_token' })
        return commandLine('w')
      },
    },
    baseUrl: 'http://localhost',
    rateLimit: 0,
    apiMeter: new ApiMeter(),
    throttle: new Throttle({ clock, limit: 1, windowSeconds: 1, keysMax: 1 }),
    quotas: { of: () => ({ requests_per_minute: 0 }) },
    workspaceThrottle: new Throttle({ clock, limit: 0, windowSeconds: 1, keysMax: 1 }),
  } as unknown as AppDependencies
  const app = await buildApp(deps, pino({ level: 'silent' }))
  const server = createFront({
    isForApi: () => true,
    api: (request, response) => app.routing(request, response),
    redirect: (_request, response) => response.end(),
    fastRedirect: undefined,
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const exportServer: ExportServer = {
    server,
    exports,
    charts,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/clicks/export`,
    async *batches() {},
    readDays: async () => [],
    isRevoked: false,
    async stop() {
      server.closeAllConnections()
      server.close()
      await app.close()
    },
  }
  return exportServer
}
