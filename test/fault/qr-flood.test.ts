import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { apiClient, expectStatus } from '../support/api.ts'
import { SQLITE } from '../support/engines.ts'
import { createLink } from '../support/links.ts'
import { formSetting } from '../support/long-form.ts'
import { makeToken } from '../support/make-instance.ts'
import { startProcess } from '../support/service-process.ts'
import { visit } from '../support/visit.ts'

/** QR codes that one workspace requests at the same time. */
const PICTURES = formSetting('FLOOD_PICTURES')
const VISITORS = 4

describe('a flood of QR codes', () => {
  test('does not block visitors: more of them are answered than codes are rendered', async (t) => {
    const place = await SQLITE.createMigratedPlace()
    const token = await makeToken(place.env)
    const service = await startProcess(place)
    t.after(async () => {
      await service.stop()
      await place.remove()
    })
    const api = apiClient(`http://127.0.0.1:${service.port}`, token)
    const { id } = await createLink(api, { key: 'flooded' })

    const durationsMs: number[] = []
    let isFlooding = true
    async function visitUntilTheEnd(): Promise<void> {
      while (isFlooding) {
        const startedMs = performance.now()
        assert.equal((await visit(service.port, '/flooded')).status, 302)
        durationsMs.push(performance.now() - startedMs)
      }
    }
    const visitors = Array.from({ length: VISITORS }, visitUntilTheEnd)
    const answers = await Promise.all(
      Array.from({ length: PICTURES }, (_, index) =>
        api.get(`/links/${id}/qr-code?size=2048&color=%23${index.toString(16).padStart(6, '0')}`),
      ),
    )
    isFlooding = false
    await Promise.all(visitors)

    const pictures = answers.filter(({ status }) => status === 200).length
    assert.ok(pictures > 0)
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      assert.ok([429, 503].includes(answer.status), String(answer.status))
      assert.ok(Number(answer.headers.get('retry-after')) >= 1)
    }
    expectStatus(await api.get(`/links/${id}`), 200)
    const sorted = durationsMs.sort((a, b) => a - b)
    const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? 0
    const longest = sorted.at(-1) ?? 0
    t.diagnostic(
      `${pictures} of ${PICTURES} pictures, ${sorted.length} visits, p99 ${p99.toFixed(1)} ms, longest ${longest.toFixed(1)} ms`,
    )
    assert.ok(sorted.length > pictures, `${sorted.length} visits beside ${pictures} pictures`)
  })
})
