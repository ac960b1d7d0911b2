import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { type ApiDescription, operationsOf } from './description.ts'
import { referenceHtml } from './page.ts'

const COMMITTED = new URL('../../../../docs/openapi.json', import.meta.url)
const DESCRIPTION: ApiDescription = JSON.parse(readFileSync(COMMITTED, 'utf8'))
const NO_FILES = { scripts: [], styles: [], icons: [] }

describe('referenceHtml', async () => {
  const html = await referenceHtml(DESCRIPTION, NO_FILES)
  const ids = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id)

  /** What is between the anchor of an entry and the next entry. */
  const entryOf = (id: string) => html.split(` id="${id}">`)[1]?.split('<details>')[0] ?? ''

  test('has an entry for each operation, webhook event and schema', () => {
    const expected = [
      ...operationsOf(DESCRIPTION).map(({ operationId }) => `operation/${operationId}`),
      ...Object.keys(DESCRIPTION.webhooks).map((name) => `event/${name}`),
      ...Object.keys(DESCRIPTION.components.schemas).map((name) => `schema/${name}`),
    ]
    assert.deepEqual(ids.filter((id) => id.includes('/')).toSorted(), expected.toSorted())
  })

  test('has each anchor once, and no link to an anchor that is missing', () => {
    assert.equal(new Set(ids).size, ids.length)
    const targets = [...html.matchAll(/ href="#([^"]*)"/g)].map(([, id = '']) => id)
    assert.deepEqual(
      targets.filter((target) => !ids.includes(target)),
      [],
    )
  })

  test('shows of an operation its fields with their bounds, its answers and its calls', () => {
    const entry = entryOf('operation/links.create')
    for (const part of [
      '<code>domain</code> <span class="type">string</span> <span class="must">required</span>',
      '1 to 8,192 characters',
      '<code>none</code> or <code>append</code> or <code>capture</code> or null',
      '<a href="#schema/Link">Link</a>',
      '<b>422</b>',
      '<code>Retry-After</code>',
      'curl -X POST',
      'terse.POST(&#39;/api/v1/links&#39;',
      '&quot;link&quot;: &quot;https://go.example.com/spring&quot;',
    ]) {
      assert.ok(entry.includes(part), part)
    }
  })

  test('shows the fields of a webhook event, and the codes of errors', () => {
    assert.match(entryOf('event/link.clicked'), /<code>clicks<\/code>/)
    assert.match(entryOf('schema/Problem'), /<code>validation_failed<\/code>/)
  })

  test('shows texts of the document as text', async () => {
    const tags = [{ name: 'Links', description: 'Of <b>one</b> & `<i>` all' }]
    const shown = await referenceHtml({ ...DESCRIPTION, tags }, NO_FILES)
    assert.ok(shown.includes('Of &lt;b&gt;one&lt;/b&gt; &amp; <code>&lt;i&gt;</code> all'))
  })
})
