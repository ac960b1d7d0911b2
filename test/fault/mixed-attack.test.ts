import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { expectStatus } from '../support/api.ts'
import { SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { formSetting } from '../support/long-form.ts'
import { startAttackers, startScene } from './attack/assault.ts'
import { startBystander } from './attack/bystander.ts'

/** `npm run bench:attack` is the long form, which also measures times. */
const SECONDS = formSetting('ATTACK_SECONDS')
const STRANGERS = 60
const REST_MS_MAX = 3_000
const MEMORY_MIB_MAX = 512

describe('a service under attack by ten tenants and many strangers', () => {
  test('answers every bystander, keeps its memory bounded and counts every redirect once', {
    skip: process.platform !== 'linux' && 'strangers need the addresses of 127.0.0.0/8',
    timeout: SECONDS * 1_000 + 180_000,
  }, async (t) => {
    const place = await SQLITE.createMigratedPlace()
    t.after(() => place.remove())
    const scene = await startScene(place)
    t.after(() => scene.stop())
    const { target, api } = scene
    const visitsOf = async (id: string): Promise<number> => {
      const { total } = expectStatus(await api.get(`/links/${id}/clicks`), 200).body
      return total.clicks + total.bots
    }
    const bystander = startBystander({ ...target, key: scene.bystander.key })
    const attackers = startAttackers({ target, strangers: STRANGERS, restMsMax: REST_MS_MAX })
    await sleep(SECONDS * 1_000)
    // The attackers' process is slow to start on a busy machine.
    await eventually(async () => assert.ok((await visitsOf(scene.flooded.id)) > 0))
    const attack = await attackers.stop()
    await bystander.stop()

    assert.deepEqual(bystander.tally.failures, {})
    assert.ok(attack.floodRedirects > 0, 'the flooded link was visited')
    const peakMib = peakMemoryMib(scene.service.child.pid as number)
    t.diagnostic(`${peakMib} MiB at most, ${JSON.stringify(attack)}`)
    assert.ok(peakMib <= MEMORY_MIB_MAX, `${peakMib} MiB`)
    await eventually(async () => {
      for (const [id, redirects] of [
        [scene.bystander.id, bystander.tally.redirects],
        [scene.flooded.id, attack.floodRedirects],
      ] as const) {
        assert.equal(await visitsOf(id), redirects)
      }
    })
  })
})

/** The peak resident memory of the process. */
function peakMemoryMib(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1]) / 1024)
}
