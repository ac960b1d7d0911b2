import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Api } from '../support/api.ts'
import { SQLITE } from '../support/engines.ts'
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
    name: 'appends all six UTM values, encoded, to the existing query',
    link: { url: 'https://example.com/p?a=1#top', ...UTM },
    location:
      'https://example.com/p?a=1&utm_source=poster%20%26%20flyer&utm_medium=print&utm_campaign=Fr%C3%BChling%2F2026&utm_term=a%2Bb%3Dc&utm_content=50%25&utm_name=%22x%22%231#top',
  },
  {
    name: 'replaces existing UTM parameters of the same name, and no others',
    link: {
      url: 'https://example.com/?utm_source=old&utm_medium=kept&utm%5Fsource=old&UTM_SOURCE=x',
      utm_source: 'new',
    },
    location: 'https://example.com/?utm_medium=kept&UTM_SOURCE=x&utm_source=new',
  },
  {
    name: 'appends the visitor’s query',
    link: { url: 'https://example.com/?a=1' },
    query: 'b=2&b=3&flag',
    location: 'https://example.com/?a=1&b=2&b=3&flag',
  },
  {
    name: 'lets the visitor’s query override the destination and the UTM values',
    link: { url: 'https://example.com/?ref=old&a=1', utm_source: 'poster', utm_medium: 'print' },
    query: 'utm_source=mail&ref=new',
    location: 'https://example.com/?a=1&utm_medium=print&utm_source=mail&ref=new',
  },
  {
    name: 'keeps the fragment after the query',
    link: { url: 'https://example.com/app#/route?x=1' },
    query: 'x=2',
    location: 'https://example.com/app?x=2#/route?x=1',
  },
  {
    name: 'keeps the rest of the destination’s query byte for byte',
    link: {
      url: 'https://example.com/?sig=a%2fB+c%20d%zz==&&q={a|b}^`&x;y&z?&=&',
      utm_source: 'x',
    },
    location: 'https://example.com/?sig=a%2fB+c%20d%zz==&&q={a|b}^`&x;y&z?&=&&utm_source=x',
  },
  {
    name: 'keeps a destination byte for byte when nothing is added',
    link: { url: 'https://example.com/?&&a=%zz&{}|' },
    location: 'https://example.com/?&&a=%zz&{}|',
  },
  {
    name: 'appends nothing for an empty query',
    link: { url: 'https://example.com/?a=1' },
    query: '&&',
    location: 'https://example.com/?a=1',
  },
  {
    name: 'encodes characters that could end a header or an attribute',
    link: { url: 'https://example.com/' },
    query: 'a=<script>"\'&b=%0d%0aSet-Cookie:%20c',
    location: "https://example.com/?a=%3Cscript%3E%22'&b=%0d%0aSet-Cookie:%20c",
  },
  {
    name: 'adds the UTM values and the query to the iOS destination',
    link: { url: 'https://example.com/', ios: 'https://ios.example/?a=1', utm_source: 'poster' },
    query: 'b=2',
    agent: AGENTS.iPhone,
    location: 'https://ios.example/?a=1&utm_source=poster&b=2',
  },
  {
    name: 'adds them to an app address',
    link: { url: 'https://example.com/', android: 'myapp://open/1', utm_source: 'poster' },
    query: 'b=2',
    agent: AGENTS.android,
    location: 'myapp://open/1?utm_source=poster&b=2',
  },
  {
    name: 'sends an international destination as ASCII',
    link: { url: 'https://münchen.example/straße?ü=ü#ü' },
    location: 'https://xn--mnchen-3ya.example/stra%C3%9Fe?%C3%BC=%C3%BC#%C3%BC',
  },
  {
    name: 'sends a destination of the greatest length whole',
    link: { url: `https://example.com/${'a'.repeat(8_172)}` },
    query: 'b=2',
    location: `https://example.com/${'a'.repeat(8_172)}?b=2`,
  },
]

describe('the destination of a visit', () => {
  let service: Service
  let api: Api
  before(async () => {
    service = await startService(SQLITE, { TERSE_APP_SCHEMES: 'myapp' })
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
