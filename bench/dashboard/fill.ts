import { pino } from 'pino'
import { openInstance } from '../../src/app/composition/instance.ts'
import { readConfig } from '../../src/app/config/config.ts'
import { SetupLinks } from '../../src/identity/sign-in/setup.ts'
import { systemRandom } from '../../src/platform/crypto/random.ts'
import { apiClient, expectStatus } from '../../test/support/api.ts'
import { openWriterAt, takeClicks } from '../../test/support/click-writers.ts'
import type { Place } from '../../test/support/engines.ts'
import { PASSWORD, type PersonClient, personClient } from '../../test/support/person-client.ts'
import { fillWithLinks } from '../support/many-links.ts'
import { clickSource, zipf } from '../support/sample-clicks.ts'

const DAYS = 365
const DAY_MICROS = 86_400_000_000
const LINKS_PER_REQUEST = 1_000

export type Amounts = {
  readonly links: number
  /** Over a year. */
  readonly clicks: number
  readonly tags: number
  readonly domains: number
}

/** Returns a code with which the first person of an instance sets up an account. */
export async function makeSetupCode(env: Readonly<Record<string, string>>): Promise<string> {
  const opened = await openInstance(readConfig(env), pino({ level: 'silent' }))
  try {
    return await new SetupLinks({ ...opened, random: systemRandom }).create('bench')
  } finally {
    await opened.close()
  }
}

/** Fills a fresh workspace. Returns its owner, signed in. */
export async function fillWorkspace(
  place: Place,
  port: number,
  { token, code }: { readonly token: string; readonly code: string },
  amounts: Amounts,
): Promise<PersonClient> {
  const baseUrl = `http://127.0.0.1:${port}`
  const api = apiClient(baseUrl, token)
  for (const domain of ['localhost', 'go.localhost']) {
    expectStatus(await api.post('/links', { domain, url: 'https://example.com/' }), 201)
  }
  await fillWithLinks(place, amounts.links)
  await addClicks(place, amounts)
  for (let nth = 0; nth < amounts.domains; nth += 1) {
    expectStatus(await api.post('/domains', { domain: `shop-${nth}.localhost` }), 201)
  }
  for (let first = 0; first < amounts.tags; first += LINKS_PER_REQUEST) {
    const count = Math.min(LINKS_PER_REQUEST, amounts.tags - first)
    const links = Array.from({ length: count }, (_, nth) => ({
      domain: 'localhost',
      key: `campaign-${first + nth}`,
      url: 'https://example.com/campaign',
      tags: [`campaign-${first + nth}`],
    }))
    expectStatus(await api.post('/links/bulk', { action: 'create', links }), 200)
  }
  const owner = personClient({ baseUrl })
  const person = { code, email: 'ada@example.com', name: 'Ada Lovelace', password: PASSWORD }
  expectStatus(await owner.post('/setup', person), 201)
  return owner
}

async function addClicks(place: Place, { links, clicks }: Amounts): Promise<void> {
  const draw = zipf(links, 1)
  const click = clickSource(() => 1 + draw())
  const perDay = Math.ceil(clicks / DAYS)
  const writer = await openWriterAt(place)
  const nowMicros = Date.now() * 1_000
  for (let day = DAYS - 1; day >= 0; day -= 1) {
    const start = nowMicros - (day + 1) * DAY_MICROS
    const atMicros = (nth: number) => start + Math.floor((nth * DAY_MICROS) / perDay)
    await takeClicks(
      writer,
      Array.from({ length: perDay }, (_, nth) => click(atMicros(nth))),
    )
  }
  await writer.close()
}
