import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectStatus } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { onEachEngine } from '../support/on-each-engine.ts'
import { visit } from '../support/visit.ts'
import { AGENTS, INSTAGRAM, MAC_SAFARI } from './agents.ts'
import { createLink } from './create.ts'

const U = 'https://e.example/page?a=1&b=2'
const SHOWN = {
  title: 'Spring <sale>',
  description: 'Up to 50 % off & more',
  image: 'https://cdn.example/a.png',
}
const FACEBOOK = 'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)'

/** As sent by programs that show links, most of them copied from `crawler-user-agents`. */
const SOCIAL = {
  facebook: FACEBOOK,
  apple:
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0',
  x: 'Twitterbot/1.0',
  linkedin:
    'LinkedInBot/1.0 (compatible; Mozilla/5.0; Jakarta Commons-HttpClient/3.1 +http://www.linkedin.com)',
  slack: AGENTS.slackbot,
  discord: 'Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)',
  telegram: 'TelegramBot (like TwitterBot)',
  whatsapp: 'WhatsApp/2.23.20.0',
  teams:
    'Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com',
  mastodon: 'Mastodon/4.3.0 (http.rb/5.2.0; +https://mastodon.example/)',
  bluesky: 'Mozilla/5.0 (compatible; Bluesky Cardyb/1.1; +mailto:support@bsky.app)',
  reddit: 'Mozilla/5.0 (compatible; redditbot/1.0; +http://www.reddit.com/feedback)',
}

/** People in their browsers and in those of apps, and programs that follow links. */
const OTHERS = {
  safari: MAC_SAFARI,
  iPhone: AGENTS.iPhone,
  instagram: INSTAGRAM,
  facebookApp:
    'Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/126.0.0.0 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/468.0.0.0;]',
  linkedinApp:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [LinkedInApp]/9.29.1',
  pinterestApp:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [Pinterest/iOS]',
  curl: AGENTS.curl,
  googlebot: AGENTS.googlebot,
  mailPicture:
    'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)',
}

const plain = (text: string) =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')

/** Returns the contents of a page's `meta` elements by their names. */
function metaOf(html: string): Readonly<Record<string, string>> {
  const elements = html.matchAll(/<meta (?:name|property|http-equiv)="([^"]+)" content="([^"]*)">/g)
  return Object.fromEntries([...elements].map(([, name = '', text = '']) => [name, plain(text)]))
}

onEachEngine('the preview of a link', (at) => {
  const ask = (path: string, agent: string, method = 'GET') =>
    visit(at.service.port, path, { method, headers: { 'user-agent': agent } })

  test('is what programs get that show links', async () => {
    await createLink(at.api, { key: 'shown', url: U, ...SHOWN })
    for (const [name, agent] of Object.entries(SOCIAL)) {
      const answer = await ask('/shown', agent)
      assert.equal(answer.status, 200, name)
      assert.equal(metaOf(answer.body)['og:title'], SHOWN.title, name)
    }
  })

  test('is not what people and other programs get', async () => {
    await createLink(at.api, { key: 'people', url: U, ...SHOWN })
    for (const [name, agent] of Object.entries(OTHERS)) {
      const { status, headers } = await ask('/people', agent)
      assert.deepEqual([status, headers.location], [302, U], name)
    }
  })

  test('has all tags, escaped, and a refresh to the destination', async () => {
    await createLink(at.api, { key: 'tags', url: U, ...SHOWN })
    const { headers, body } = await ask('/tags?x=1', FACEBOOK)
    const { viewport: _viewport, ...tags } = metaOf(body)
    assert.deepEqual(tags, {
      robots: 'noindex',
      refresh: `0; url=${U}&x=1`,
      description: SHOWN.description,
      'og:type': 'website',
      'og:url': 'https://localhost/tags',
      'og:site_name': 'localhost',
      'og:title': SHOWN.title,
      'og:description': SHOWN.description,
      'og:image': SHOWN.image,
      'twitter:card': 'summary_large_image',
      'twitter:title': SHOWN.title,
      'twitter:description': SHOWN.description,
      'twitter:image': SHOWN.image,
    })
    assert.match(body, /<title>Spring &lt;sale&gt;<\/title>/)
    assert.match(body, /<link rel="canonical" href="https:\/\/localhost\/tags">/)
    assert.equal(headers['x-robots-tag'], 'noindex')
    assert.equal(headers['cache-control'], 'private, no-store')
  })

  test('lets no text of an owner become markup', async () => {
    const title = `"><script>alert(1)</script><meta http-equiv='refresh' content='0;url=//evil.test'>`
    await createLink(at.api, { key: 'hostile', url: U, title, description: title })
    const { body } = await ask('/hostile', FACEBOOK)
    assert.equal(metaOf(body)['og:title'], title)
    assert.doesNotMatch(body, /<script/)
    assert.equal(body.match(/http-equiv="refresh"/g)?.length, 1)
    assert.doesNotMatch(body, /http-equiv='refresh'/)
  })

  test('counts as a visit of a bot', async () => {
    const { id } = await createLink(at.api, { key: 'counted', url: U, ...SHOWN })
    await ask('/counted', FACEBOOK)
    await ask('/counted', AGENTS.iPhone)
    await eventually(async () => {
      const { body } = await at.api.get(`/links/${id}/clicks?bots=include`)
      assert.deepEqual([body.total.clicks, body.total.bots], [1, 1])
    })
  })

  test('answers HEAD without the page', async () => {
    await createLink(at.api, { key: 'head', url: U, ...SHOWN })
    const { status, body } = await ask('/head', FACEBOOK, 'HEAD')
    assert.deepEqual([status, body], [200, ''])
  })

  test('begins and ends with what is set', async () => {
    const { id } = await createLink(at.api, { key: 'late', url: U })
    assert.equal((await ask('/late', FACEBOOK)).status, 302)
    const set = (fields: object) => at.api.patch(`/links/${id}/options`, fields)
    expectStatus(await set({ description: 'Only a text' }), 200)
    const tags = metaOf((await ask('/late', FACEBOOK)).body)
    assert.deepEqual(
      [tags['og:title'], tags['og:description'], tags['og:image'], tags['twitter:card']],
      ['localhost/late', 'Only a text', undefined, 'summary'],
    )
    expectStatus(await set({ description: null }), 200)
    assert.equal((await ask('/late', FACEBOOK)).status, 302)
  })

  for (const [name, fields, status] of [
    ['has a password', { password: 'secret' }, 200],
    ['is not active yet', { active_from: '2100-01-01T00:00:00Z' }, 404],
    ['has expired', { expires_at: '2020-01-01T00:00:00Z' }, 410],
    ['has a limit of clicks', { max_clicks: 5 }, 200],
  ] as const) {
    test(`gives no destination away where the link ${name}`, async () => {
      const key = name.replaceAll(' ', '-')
      await createLink(at.api, { key, url: U, ...SHOWN, ...fields })
      const answer = await ask(`/${key}`, FACEBOOK)
      assert.equal(answer.status, status)
      assert.doesNotMatch(answer.body, /e\.example/)
      const isShown = 'max_clicks' in fields
      assert.equal(metaOf(answer.body)['og:title'], isShown ? SHOWN.title : undefined)
    })
  }

  test('is explained', async () => {
    const { id } = await createLink(at.api, { key: 'explained', url: U, ...SHOWN })
    const explain = async (agent: string) =>
      expectStatus(await at.api.post(`/links/${id}/explain`, { agent }), 200).body
    const shown = await explain(FACEBOOK)
    assert.deepEqual(
      [shown.kind, shown.status, shown.location, shown.decided_by.by, shown.counted.as],
      ['preview', 200, U, 'preview', 'bot'],
    )
    assert.equal((await explain(INSTAGRAM)).kind, 'redirect')
  })
})
