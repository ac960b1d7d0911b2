import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { expectStatus } from '../support/api.ts'
import { someClick } from '../support/clicks.ts'
import { createLink } from '../support/links.ts'
import { onEachEngine, onSqlite } from '../support/on-each-engine.ts'
import { expectRefused, type ShlinkClient, shlinkClientOf } from '../support/shlink.ts'
import { seqOf, takeIn } from '../support/taken-clicks.ts'

const URL_A = 'https://example.com/a'
const URL_B = 'https://example.com/b'
const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/
const DAY_MICROS = 86_400_000_000

type Domain = {
  readonly domain: string
  readonly isDefault: boolean
  readonly redirects: { readonly regular404Redirect: string | null }
}

onEachEngine('the API of Shlink', (stage) => {
  let client: ShlinkClient
  before(async () => {
    client = await shlinkClientOf(stage.service, 'acme')
  })

  test('creates, returns, edits and deletes a short URL', async () => {
    const created = await client.createShortUrl({
      longUrl: URL_A,
      customSlug: 'Spring Sale',
      tags: ['Big Sale', 'news'],
      title: 'Spring',
      validSince: '2026-01-02T03:04:05+00:00',
      validUntil: '2099-01-02T03:04:05+01:00',
      maxVisits: 5,
    })
    const { dateCreated, ...shortUrl } = created
    assert.match(dateCreated, DATE)
    assert.deepEqual(shortUrl, {
      shortUrl: 'https://localhost/Spring-Sale',
      shortCode: 'Spring-Sale',
      longUrl: URL_A,
      tags: ['big-sale', 'news'],
      meta: {
        validSince: '2026-01-02T03:04:05+00:00',
        validUntil: '2099-01-02T02:04:05+00:00',
        maxVisits: 5,
      },
      domain: null,
      title: 'Spring',
      crawlable: false,
      forwardQuery: true,
      visitsSummary: { total: 0, nonBots: 0, bots: 0 },
      hasRedirectRules: false,
    })
    const id = { shortCode: 'Spring-Sale' }
    assert.deepEqual(await client.getShortUrl(id), created)
    assert.deepEqual(await client.getShortUrl({ ...id, domain: 'localhost' }), created)

    const edited = await client.updateShortUrl(id, {
      longUrl: URL_B,
      tags: ['Other', 'news'],
      title: null,
      validSince: null,
      maxVisits: null,
      forwardQuery: false,
    })
    const { validUntil } = created.meta
    assert.deepEqual(edited, {
      ...created,
      ...{ longUrl: URL_B, tags: ['other', 'news'], title: null, forwardQuery: false },
      meta: { validSince: null, validUntil, maxVisits: null },
    })
    assert.deepEqual(await client.updateShortUrl(id, { forwardQuery: true }), {
      ...edited,
      forwardQuery: true,
    })
    await client.deleteShortUrl(id)
    const extra = { shortCode: 'Spring-Sale' }
    await expectRefused(client.getShortUrl(id), 404, 'short-url-not-found', extra)
    await expectRefused(client.deleteShortUrl(id), 404, 'short-url-not-found', extra)
    await expectRefused(client.updateShortUrl(id, {}), 404, 'short-url-not-found', extra)
    const domain = 'unknown.example'
    await expectRefused(client.getShortUrl({ ...id, domain }), 404, 'short-url-not-found', {
      ...extra,
      domain,
    })
  })

  test('refuses a slug that is taken, and values that links cannot have', async () => {
    await client.createShortUrl({ longUrl: URL_A, customSlug: 'taken' })
    const again = client.createShortUrl({ longUrl: URL_B, customSlug: 'taken' })
    await expectRefused(again, 400, 'non-unique-slug', { customSlug: 'taken' })
    for (const [data, element] of [
      [{ longUrl: 'no-url' }, 'longUrl'],
      [{ longUrl: '' }, 'longUrl'],
      [{ longUrl: URL_A, customSlug: 'a#b' }, 'customSlug'],
      [{ longUrl: URL_A, validUntil: 'tomorrow' }, 'validUntil'],
      [{ longUrl: URL_A, maxVisits: -1 }, 'maxVisits'],
      [{ longUrl: URL_A, shortCodeLength: 3 }, 'shortCodeLength'],
      [{ longUrl: URL_A, domain: 'unknown.example' }, 'domain'],
    ] as const) {
      const extra = { invalidElements: [element] }
      await expectRefused(client.createShortUrl(data), 400, 'invalid-data', extra)
    }
  })

  test('finds an existing short URL, and generates short codes of a length', async () => {
    const longUrl = 'https://example.com/find'
    const first = await client.createShortUrl({ longUrl, tags: ['found'] })
    const find = { longUrl, findIfExists: true }
    assert.deepEqual(await client.createShortUrl(find), first)
    assert.deepEqual(await client.createShortUrl({ ...find, tags: ['found'] }), first)
    const other = await client.createShortUrl({ ...find, maxVisits: 3 })
    assert.notEqual(other.shortCode, first.shortCode)
    const url = 'https://example.com/find-open'
    const { key } = await createLink(stage.api, { url, password: 'secret' })
    const open = await client.createShortUrl({ longUrl: url, findIfExists: true })
    assert.notEqual(open.shortCode, key)
    const { shortCode } = await client.createShortUrl({ longUrl, shortCodeLength: 12 })
    assert.equal(shortCode.length, 12)
    const slash = await client.createShortUrl({ longUrl, customSlug: 'de/find' })
    assert.deepEqual(await client.getShortUrl({ shortCode: 'de/find' }), slash)
    await client.deleteShortUrl({ shortCode: 'de/find' })
  })

  test('lists short URLs by page, text, tags, dates, domain and order', async () => {
    const lists = await shlinkClientOf(stage.service, 'lists')
    for (const [nth, tags] of [['x'], ['y'], ['x', 'y'], []].entries()) {
      const slug = `list-${nth}`
      await lists.createShortUrl({
        longUrl: `https://example.com/${9 - nth}`,
        customSlug: slug,
        tags,
      })
    }
    const codes = async (params: object) => {
      const { data, pagination } = await lists.listShortUrls(params)
      assert.equal(pagination.totalItems >= data.length, true)
      return data
        .map(({ shortCode }: { shortCode: string }) => shortCode.slice('list-'.length))
        .join('')
    }
    assert.equal(await codes({}), '3210')
    const { pagination } = await lists.listShortUrls({ page: '2', itemsPerPage: 3 })
    assert.deepEqual(pagination, {
      ...{ currentPage: 2, pagesCount: 2, itemsPerPage: 3 },
      ...{ itemsInCurrentPage: 1, totalItems: 4 },
    })
    assert.equal(
      await codes({ itemsPerPage: -1, orderBy: { field: 'shortCode', dir: 'ASC' } }),
      '0123',
    )
    assert.equal(await codes({ orderBy: { field: 'longUrl', dir: 'ASC' } }), '3210')
    assert.equal(
      await codes({ orderBy: { field: 'title', dir: 'DESC' }, tags: ['x', 'y'] }).then(
        (x) => x.length,
      ),
      3,
    )
    assert.equal(await codes({ searchTerm: 'list-2' }), '2')
    assert.equal(await codes({ tags: ['x'] }), '20')
    assert.equal(await codes({ tags: ['x', 'y'] }), '210')
    assert.equal(await codes({ tags: ['x', 'y'], tagsMode: 'all' }), '2')
    const tags = Array.from({ length: 11 }, (_, nth) => `tag-${nth}`)
    for (const tagsMode of ['any', 'all'] as const) {
      const extra = { invalidElements: ['tags'] }
      await expectRefused(lists.listShortUrls({ tags, tagsMode }), 400, 'invalid-data', extra)
    }
    assert.equal(await codes({ excludeTags: ['x'] }), '31')
    assert.equal(await codes({ excludeTags: ['x', 'y'], excludeTagsMode: 'all' }), '310')
    assert.equal(await codes({ domain: 'DEFAULT' }), '3210')
    assert.equal(await codes({ startDate: '2099-01-01T00:00:00+00:00' }), '')
    assert.equal(await codes({ endDate: '2099-01-01' }), '3210')
    assert.equal(
      await codes({ excludePastValidUntil: true, excludeMaxVisitsReached: true }),
      '3210',
    )
    await expectRefused(lists.listShortUrls({ apiKeyName: 'a' }), 400, 'invalid-data', {
      invalidElements: ['apiKeyName'],
    })
  })

  test('sets the redirect rules of a short URL, and keeps the ids of those that stay', async () => {
    const longUrl = 'https://example.com/rules'
    const id = { shortCode: 'rules' }
    await client.createShortUrl({ longUrl, customSlug: 'rules' })
    const condition = (type: string, matchValue: string | null, matchKey: string | null = null) =>
      ({ type, matchKey, matchValue }) as never
    const redirectRules = [
      {
        longUrl: URL_A,
        conditions: [
          condition('device', 'mobile'),
          condition('browser', 'firefox'),
          condition('language', 'de-AT'),
          condition('query-param', '1', 'a'),
          condition('valueless-query-param', null, 'b'),
          condition('any-value-query-param', null, 'c'),
        ],
      },
      {
        longUrl: URL_B,
        conditions: [
          condition('ip-address', '192.0.2.0/24'),
          condition('geolocation-country-code', 'AT'),
          condition('after-date', '2026-01-01T00:00:00+00:00'),
          condition('before-date', '2027-01-01T00:00:00+00:00'),
        ],
      },
      { longUrl: URL_A, conditions: [condition('device', 'android')] },
    ]
    const numbered = (rules: typeof redirectRules) =>
      rules.map((rule, index) => ({ ...rule, priority: index + 1 }))
    const set = await client.setShortUrlRedirectRules(id, { redirectRules })
    const listed = await client.getShortUrlRedirectRules(id)
    assert.deepEqual(set, listed)
    assert.equal(listed.defaultLongUrl, longUrl)
    const sortConditions = ({ conditions, ...rule }: (typeof redirectRules)[number]) => ({
      ...rule,
      conditions: conditions.map((each) => JSON.stringify(each)).sort(),
    })
    assert.deepEqual(
      listed.redirectRules.map(sortConditions),
      numbered(redirectRules).map(sortConditions),
    )
    assert.equal((await client.getShortUrl(id)).hasRedirectRules, true)

    const { body } = await stage.api.get('/links?domain=localhost&key=rules')
    const path = `/links/${body.data[0].id}/rules`
    const before = (await stage.api.get(path)).body.rules
    await client.setShortUrlRedirectRules(id, { redirectRules: listed.redirectRules.toReversed() })
    const after = (await stage.api.get(path)).body.rules
    assert.deepEqual(after, before.toReversed())

    const unknown = [{ longUrl: URL_A, conditions: [condition('device', 'toaster')] }]
    const extra = { invalidElements: ['redirectRules'] }
    const refused = client.setShortUrlRedirectRules(id, { redirectRules: unknown })
    await expectRefused(refused, 400, 'invalid-data', extra)
    const split = {
      split: [
        { name: 'A', url: URL_A, weight: 1 },
        { name: 'B', url: URL_B, weight: 1 },
      ],
    }
    expectStatus(await stage.api.put(path, { rules: [{ then: split }, ...after] }), 200)
    assert.equal((await client.getShortUrlRedirectRules(id)).redirectRules.length, 3)
    await expectRefused(
      client.setShortUrlRedirectRules(id, { redirectRules: [] }),
      ...([400, 'invalid-data', extra] as const),
    )
    expectStatus(await stage.api.put(path, { rules: [] }), 200)
    const device = { longUrl: URL_B, conditions: [condition('device', 'ios')] }
    expectStatus(await stage.api.patch(`/links/${body.data[0].id}`, { ios: URL_B }), 200)
    const devices = await client.getShortUrlRedirectRules(id)
    assert.deepEqual(devices.redirectRules, numbered([device]))
    const withDevice = { redirectRules: [redirectRules[1] as never, device] }
    await client.setShortUrlRedirectRules(id, withDevice)
    assert.equal((await stage.api.get(`/links/${body.data[0].id}`)).body.ios, URL_B)
    await client.setShortUrlRedirectRules(id, { redirectRules: [] })
    const { redirectRules: none } = await client.getShortUrlRedirectRules(id)
    assert.deepEqual(none, [])
  })

  test('lists, counts, renames and deletes tags', async () => {
    const tags = await shlinkClientOf(stage.service, 'tags')
    await tags.createShortUrl({ longUrl: URL_A, tags: ['one', 'two'] })
    await tags.createShortUrl({ longUrl: URL_A, tags: ['two'] })
    assert.deepEqual((await tags.listTags()).data, ['one', 'two'])
    const visitsSummary = { total: 0, nonBots: 0, bots: 0 }
    assert.deepEqual((await tags.tagsStats()).data, [
      { tag: 'one', shortUrlsCount: 1, visitsSummary },
      { tag: 'two', shortUrlsCount: 2, visitsSummary },
    ])
    await tags.editTag({ oldName: 'one', newName: 'three' })
    assert.deepEqual((await tags.listTags()).data, ['three', 'two'])
    const renaming = { oldName: 'three', newName: 'two' }
    await expectRefused(tags.editTag(renaming), 409, 'tag-conflict', renaming)
    const missing = tags.editTag({ oldName: 'one', newName: 'four' })
    await expectRefused(missing, 404, 'tag-not-found', { tag: 'one' })
    await tags.deleteTags(['three', 'unknown'])
    assert.deepEqual((await tags.listTags()).data, ['two'])
  })

  test('lists visits of short URLs, tags, domains and all, newest first', async () => {
    const api = await stage.service.api('visits')
    const visits = await shlinkClientOf(stage.service, 'visits')
    const link = await createLink(api, { key: 'visited', tags: ['seen'] })
    const other = await createLink(api, { key: 'other' })
    const link_seq = await seqOf(stage.service, link)
    const today = Math.floor(Date.now() / 86_400_000) * DAY_MICROS
    const at = (day: number, second: number) => today - day * DAY_MICROS + second * 1_000_000
    await takeIn(stage.service, [
      someClick({
        ...{ at: at(3, 61), link_seq, country: 'DE', browser: 'Firefox', os: 'Windows' },
        ...{ device: 'desktop', referrer: 'news.example' },
      }),
      someClick({ at: at(2, 3_700), link_seq, flags: 1 }),
      someClick({ at: at(2, 7_300), link_seq }),
      someClick({ at: at(1, 5), link_seq: await seqOf(stage.service, other) }),
    ])
    const id = { shortCode: 'visited' }
    const { data, pagination } = await visits.getShortUrlVisits(id)
    const date = (micros: number) => `${new Date(micros / 1_000).toISOString().slice(0, 19)}+00:00`
    assert.deepEqual(
      data.map((visit: { date: string; potentialBot: boolean }) => [
        visit.date,
        visit.potentialBot,
      ]),
      [
        [date(at(2, 7_300)), false],
        [date(at(2, 3_700)), true],
        [date(at(3, 61)), false],
      ],
    )
    assert.deepEqual(data[2], {
      referer: 'news.example',
      date: date(at(3, 61)),
      userAgent: 'Firefox; Windows; desktop',
      visitLocation: {
        ...{ countryCode: 'DE', countryName: 'Germany', regionName: '', cityName: '' },
        ...{ latitude: null, longitude: null, timezone: '', isEmpty: false },
      },
      potentialBot: false,
      visitedUrl: 'https://localhost/visited',
      redirectUrl: null,
    })
    assert.deepEqual(pagination, {
      ...{ currentPage: 1, pagesCount: 1, itemsPerPage: 5_000 },
      ...{ itemsInCurrentPage: 3, totalItems: 3 },
    })
    const dates = async (list: Promise<{ data: { date: string }[] }>) =>
      (await list).data.map((visit) => visit.date)
    for (const page of [1, 2, 3]) {
      const one = visits.getShortUrlVisits(id, { page, itemsPerPage: 1 })
      assert.deepEqual(await dates(one), [data[page - 1]?.date])
    }
    assert.deepEqual(await dates(visits.getShortUrlVisits(id, { page: 4, itemsPerPage: 1 })), [])
    const people = [date(at(2, 7_300)), date(at(3, 61))]
    assert.deepEqual(await dates(visits.getShortUrlVisits(id, { excludeBots: true })), people)
    const startDate = new Date(at(2, 0) / 1_000).toISOString()
    assert.deepEqual((await dates(visits.getShortUrlVisits(id, { startDate }))).length, 2)
    assert.deepEqual(await dates(visits.getShortUrlVisits(id, { endDate: startDate })), [people[1]])

    assert.equal((await visits.getTagVisits('seen')).data.length, 3)
    assert.equal((await visits.getTagVisits('seen', { domain: 'DEFAULT' })).data.length, 3)
    assert.equal((await visits.getTagVisits('unknown')).data.length, 0)
    assert.equal((await visits.getDomainVisits('localhost')).data.length, 4)
    assert.equal((await visits.getDomainVisits('DEFAULT', { excludeBots: true })).data.length, 3)
    assert.equal((await visits.getNonOrphanVisits()).data.length, 4)
    assert.equal((await visits.getNonOrphanVisits({ itemsPerPage: 2 })).pagination.totalItems, 4)
    assert.equal((await visits.getNonOrphanVisits({ domain: 'x.example' })).data.length, 0)
    assert.deepEqual((await visits.getOrphanVisits({ type: 'base_url' })).data, [])
    const authority = 'x.example'
    await expectRefused(visits.getDomainVisits(authority), 404, 'domain-not-found', { authority })

    const none = { total: 0, nonBots: 0, bots: 0 }
    assert.deepEqual(await visits.getVisitsOverview(), {
      nonOrphanVisits: { total: 4, nonBots: 3, bots: 1 },
      orphanVisits: none,
    })
    const summary = { total: 3, nonBots: 2, bots: 1 }
    const listed = await visits.listShortUrls({ orderBy: { field: 'visits', dir: 'DESC' } })
    assert.deepEqual(listed.data[0]?.visitsSummary, summary)
    assert.deepEqual((await visits.tagsStats()).data[0]?.visitsSummary, summary)

    await expectRefused(visits.deleteShortUrlVisits(id), 403, 'forbidden-tag-operation')
    assert.deepEqual(await visits.deleteOrphanVisits(), { deletedVisits: 0 })
    assert.equal((await visits.getShortUrlVisits(id)).data.length, 3)
  })

  test('tells the default domain from others', async () => {
    const api = await stage.service.api('domains')
    const domains = await shlinkClientOf(stage.service, 'domains')
    for (const domain of ['a.example.com', 'b.example.com']) {
      expectStatus(await api.post('/domains', { domain, not_found_url: URL_B }), 201)
    }
    expectStatus(await api.put('/default-domain', { domain: 'a.example.com' }), 200)
    await domains.createShortUrl({ longUrl: URL_A, customSlug: 'x' })
    const domain = 'b.example.com'
    const other = await domains.createShortUrl({ longUrl: URL_B, customSlug: 'x', domain })
    assert.equal(other.shortUrl, 'https://b.example.com/x')
    assert.equal(other.domain, domain)
    assert.deepEqual(await domains.getShortUrl({ shortCode: 'x', domain }), other)
    const usual = await domains.getShortUrl({ shortCode: 'x' })
    assert.deepEqual([usual.shortUrl, usual.domain], ['https://a.example.com/x', null])
    const taken = domains.createShortUrl({ longUrl: URL_B, customSlug: 'x', domain })
    await expectRefused(taken, 400, 'non-unique-slug', { customSlug: 'x', domain })
    const { data } = await domains.listDomains()
    assert.deepEqual(
      (data as Domain[]).map((each) => [
        each.domain,
        each.isDefault,
        each.redirects.regular404Redirect,
      ]),
      [
        ['a.example.com', true, URL_B],
        [domain, false, URL_B],
      ],
    )

    const shared = await createLink(api, { key: 'shared' })
    const found = await api.get('/links?domain=b.example.com')
    const at = (Math.floor(Date.now() / 86_400_000) - 1) * DAY_MICROS
    const visited = [shared, found.body.data[0], found.body.data[0]]
    const clicks = visited.map(async (link, nth) =>
      someClick({ at: at + nth * 1_000_000, link_seq: await seqOf(stage.service, link) }),
    )
    await takeIn(stage.service, await Promise.all(clicks))
    const count = async (list: Promise<{ data: object[]; pagination: { totalItems: number } }>) => {
      const { data: listed, pagination } = await list
      assert.equal(listed.length, pagination.totalItems)
      return listed.length
    }
    assert.equal(await count(domains.getDomainVisits(domain)), 2)
    assert.equal(await count(domains.getDomainVisits('DEFAULT')), 0)
    assert.equal(await count(domains.getDomainVisits('localhost')), 1)
    assert.equal(await count(domains.getNonOrphanVisits({ domain })), 2)
    assert.equal((await domains.listDomains()).data.length, 3)
  })
})

onSqlite(
  'the API of Shlink, where single clicks are kept for a month',
  (stage) => {
    test('counts and lists the visits of tags that are kept', async () => {
      const client = await shlinkClientOf(stage.service, 'acme')
      const link = await createLink(stage.api, { tags: ['kept'] })
      const at = (Date.now() - 3 * 86_400_000) * 1_000
      await takeIn(stage.service, [someClick({ at, link_seq: await seqOf(stage.service, link) })])
      const [{ tag, visitsSummary }] = (await client.tagsStats()).data
      assert.deepEqual([tag, visitsSummary.total], ['kept', 1])
      assert.equal((await client.getTagVisits('kept', { page: 1, itemsPerPage: 1 })).data.length, 1)
      assert.equal((await client.getTagVisits('kept', { domain: 'DEFAULT' })).data.length, 1)
      const startDate = '2020-01-01T00:00:00Z'
      assert.equal((await client.getTagVisits('kept', { startDate })).data.length, 1)
    })
  },
  { TERSE_CLICK_RETENTION_DAYS: '30' },
)
