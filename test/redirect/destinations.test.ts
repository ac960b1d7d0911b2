import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Api } from '../support/api.ts'
import { ENGINES } from '../support/engines.ts'
import { type Service, startService } from '../support/service.ts'
import { visit } from '../support/visit.ts'
import { AGENTS } from './agents.ts'
import { createLink } from './create.ts'

const UTM = {
  utm_source: 'poster & flyer',
  utm_medium: 'print',
  utm_campaign: 'Frühling/2026',
  utm_term: 'a+b=c',
  utm_content: '50%',
  utm_name: '"x"#1',
}

type Scenario = {
  readonly name: string
  readonly link: Readonly<Record<string, unknown>>
  readonly query?: string
  readonly agent?: string
  readonly location: string
}

const SCENARIOS: readonly Scenario[] = [
  {
    name: 'all six UTM values are set, encoded, after what is there',
    link: { url: 'https://example.com/p?a=1#top', ...UTM },
    location:
      'https://example.com/p?a=1&utm_source=poster%20%26%20flyer&utm_medium=print&utm_campaign=Fr%C3%BChling%2F2026&utm_term=a%2Bb%3Dc&utm_content=50%25&utm_name=%22x%22%231#top',
  },
  {
    name: 'UTM values replace those of the same name, and no others',
    link: {
      url: 'https://example.com/?utm_source=old&utm_medium=kept&utm%5Fsource=old&UTM_SOURCE=x',
      utm_source: 'new',
    },
    location: 'https://example.com/?utm_medium=kept&UTM_SOURCE=x&utm_source=new',
  },
  {
    name: "the visitor's query is added",
    link: { url: 'https://example.com/?a=1' },
    query: 'b=2&b=3&flag',
    location: 'https://example.com/?a=1&b=2&b=3&flag',
  },
  {
    name: "the visitor's query wins over the destination and over the UTM values",
    link: { url: 'https://example.com/?ref=old&a=1', utm_source: 'poster', utm_medium: 'print' },
    query: 'utm_source=mail&ref=new',
    location: 'https://example.com/?a=1&utm_medium=print&utm_source=mail&ref=new',
  },
  {
    name: 'the fragment stays, behind the query',
    link: { url: 'https://example.com/app#/route?x=1' },
    query: 'x=2',
    location: 'https://example.com/app?x=2#/route?x=1',
  },
  {
    name: "the rest of the destination's query stays to the byte",
    link: {
      url: 'https://example.com/?sig=a%2fB+c%20d%zz==&&q={a|b}^`&x;y&z?&=&',
      utm_source: 'x',
    },
    location: 'https://example.com/?sig=a%2fB+c%20d%zz==&&q={a|b}^`&x;y&z?&=&&utm_source=x',
  },
  {
    name: 'a destination that nothing is added to stays to the byte',
    link: { url: 'https://example.com/?&&a=%zz&{}|' },
    location: 'https://example.com/?&&a=%zz&{}|',
  },
  {
    name: 'a query of nothing adds nothing',
    link: { url: 'https://example.com/?a=1' },
    query: '&&',
    location: 'https://example.com/?a=1',
  },
  {
    name: 'what could end a header or an attribute is encoded',
    link: { url: 'https://example.com/' },
    query: 'a=<script>"\'&b=%0d%0aSet-Cookie:%20c',
    location: "https://example.com/?a=%3Cscript%3E%22'&b=%0d%0aSet-Cookie:%20c",
  },
  {
    name: 'an iPhone gets the UTM values and the query too',
    link: { url: 'https://example.com/', ios: 'https://ios.example/?a=1', utm_source: 'poster' },
    query: 'b=2',
    agent: AGENTS.iPhone,
    location: 'https://ios.example/?a=1&utm_source=poster&b=2',
  },
  {
    name: "an app's own address gets them too",
    link: { url: 'https://example.com/', android: 'myapp://open/1', utm_source: 'poster' },
    query: 'b=2',
    agent: AGENTS.android,
    location: 'myapp://open/1?utm_source=poster&b=2',
  },
  {
    name: 'an international destination is sent as ASCII',
    link: { url: 'https://münchen.example/straße?ü=ü#ü' },
    location: 'https://xn--mnchen-3ya.example/stra%C3%9Fe?%C3%BC=%C3%BC#%C3%BC',
  },
  {
    name: 'a destination of the greatest length arrives whole',
    link: { url: `https://example.com/${'a'.repeat(8_172)}` },
    query: 'b=2',
    location: `https://example.com/${'a'.repeat(8_172)}?b=2`,
  },
]

for (const engine of ENGINES) {
  describe(`The destination of a visit, on ${engine.name}`, () => {
    let service: Service
    let api: Api
    before(async () => {
      service = await startService(engine, { TERSE_APP_SCHEMES: 'myapp' })
      api = await service.api()
    })
    after(() => service.stop())

    for (const { name, link, query, agent, location } of SCENARIOS) {
      test(name, async () => {
        const { key } = await createLink(api, link)
        const path = query === undefined ? `/${key}` : `/${key}?${query}`
        const headers = agent === undefined ? {} : { 'user-agent': agent }
        const answer = await visit(service.port, path, { headers })
        assert.equal(answer.status, 302)
        assert.equal(answer.headers.location, location)
      })
    }
  })
}
