import assert from 'node:assert/strict'
import { test } from 'node:test'
import { certificateStanding } from '../../src/certificates/certificates.ts'
import { chargeOrder } from '../../src/certificates/order-budgets.ts'
import { eventually } from '../support/eventually.ts'
import { fakeAuthority } from '../support/fake-authority.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { orderNode } from '../support/order-node.ts'
import { describeStore } from '../support/store.ts'
import { addDomain, addWorkspace, unique } from './samples.ts'

const SECOND_MICROS = 1_000_000
const MINUTE = 60
const DAY = 24 * 60 * MINUTE
/** How many first orders one workspace may place as a burst, and then in each half hour. */
const OF_WORKSPACE = 90
const OF_WORKSPACE_LATER = 20
/** How many first orders all workspaces together may place as a burst. */
const OF_ALL = 180

describeStore('certificate orders of several workspaces', (at) => {
  const setUp = async (options: { beforeOrder?: (host: string) => Promise<void> } = {}) => {
    const clock = fakeClock(Date.now())
    const directory = `https://${unique('ca')}.example`
    const fails = (host: string) => host.startsWith('failing')
    const authority = fakeAuthority({ directory, clock, fails, ...options })
    const before = await at.db.selectFrom('certificate_orders').select('host').execute()
    await at.store.write(async (stores) => {
      for (const { host } of before) await stores.certificateOrders.remove(host)
    })
    const node = orderNode({ store: at.store, clock, authority })
    /** Creates a workspace whose hosts become active all at the same time. */
    const workspace = async (...prefixes: string[]) => {
      const { id } = await addWorkspace(at.store)
      const add = async (...names: string[]) => {
        const hosts: string[] = []
        for (const name of names) {
          // A registered domain for each host, so that no budget per registered domain applies.
          const host = `${name}.${unique('d')}.test`
          await addDomain(at.store, id, { host, status: 'active' })
          hosts.push(host)
        }
        await node.orders.reconcile(hosts)
        return hosts
      }
      return { id, add, hosts: await add(...prefixes) }
    }
    /** Charges first orders to a workspace as if it had placed them. */
    const spend = (workspaceId: string, count: number) =>
      at.store.write(async (stores) => {
        for (let index = 0; index < count; index += 1) {
          const order = { directory, host: `${unique('spent')}.test`, purpose: 'first' } as const
          await chargeOrder(stores, order, workspaceId, clock.nowMicros())
        }
      })
    const placedFor = (hosts: readonly string[]) =>
      authority.placed.filter((host) => hosts.includes(host)).length
    return { clock, directory, authority, node, workspace, spend, placedFor }
  }
  const many = (count: number, prefix: string) => Array.from({ length: count }, () => prefix)

  test('are placed for one workspace at once while 250 hosts of another fail', async () => {
    const { clock, node, workspace, placedFor } = await setUp()
    const hostile = await workspace(...many(250, 'failing'))
    await node.runDue()
    assert.equal(placedFor(hostile.hosts), OF_WORKSPACE)
    const other = await workspace('go')
    await node.runDue()
    assert.equal(node.log.at(-1), `issued ${other.hosts[0]}`, 'at once')
    for (let minute = 0; minute < 30; minute += 5) {
      clock.move(5 * MINUTE)
      await node.runDue()
    }
    const most = OF_WORKSPACE + OF_WORKSPACE_LATER
    assert.equal(placedFor(hostile.hosts), most)
    assert.ok(
      hostile.hosts.every((host) => placedFor([host]) <= 1),
      'those never tried go before those that failed',
    )
    const later = await other.add('go')
    await node.runDue()
    assert.equal(node.log.at(-1), `issued ${later[0]}`)
    assert.ok(!node.log.some((line) => /^(error|away)/.test(line)), node.log.join('\n'))
  })

  test('give each workspace its turn when the account has no first orders left', async () => {
    const { clock, authority, node, workspace, spend } = await setUp()
    for (let count = 0; count < OF_ALL / OF_WORKSPACE; count += 1) {
      await spend(unique('gone'), OF_WORKSPACE)
    }
    const greedy = [
      await workspace(...many(12, 'failing')),
      await workspace(...many(12, 'failing')),
    ]
    const other = await workspace('go')
    await node.runDue()
    assert.deepEqual(authority.placed, [])
    // Three workspaces wait, and the account may place one more order in 45 seconds.
    for (let turn = 0; turn < 3; turn += 1) {
      clock.move(45)
      await node.runDue()
    }
    const turns = [...greedy, other].map(
      ({ hosts }) => authority.placed.filter((host) => hosts.includes(host)).length,
    )
    assert.deepEqual(turns, [1, 1, 1])
  })

  test('renew a certificate while no first order may be placed', async () => {
    const { clock, authority, node, workspace, spend } = await setUp()
    const other = await workspace('go', 'go')
    await node.runDue()
    assert.equal(authority.placed.length, 2)
    for (const left of [OF_WORKSPACE, OF_WORKSPACE - 2]) await spend(unique('gone'), left)
    const [host = ''] = other.hosts
    const now = clock.nowMicros()
    const life = {
      notBefore: now - 80 * DAY * SECOND_MICROS,
      notAfter: now + 10 * DAY * SECOND_MICROS,
    }
    const current = await node.certificates.find(host)
    assert.ok(current)
    await at.store.write(async (stores) => {
      await node.certificates.save(stores, { ...current, ...life })
      await stores.certificateOrders.finish(host, 1, { nextAt: now })
    })
    await other.add('late')
    await node.runDue()
    assert.deepEqual(authority.placed.slice(2), [host])
    assert.ok(((await node.certificates.find(host))?.notAfter ?? 0) > life.notAfter)
  })

  test('are placed for the host that has waited longest, and report why the others wait', async () => {
    const { clock, authority, directory, node, workspace, spend } = await setUp()
    const { id, add, hosts: failing } = await workspace('failing')
    await node.runDue()
    await spend(id, OF_WORKSPACE - 1)
    clock.move(1)
    const [first = ''] = await add('z')
    clock.move(1)
    const [second = ''] = await add('a')
    await node.runDue()
    assert.deepEqual(authority.placed, failing)
    const now = clock.nowMicros()
    const standing = await certificateStanding(at.store.read, second, directory, now)
    assert.deepEqual(standing, {
      life: null,
      problem: 'waits: too many certificates have been ordered for this workspace lately',
      nextAttemptAt: now + 88 * SECOND_MICROS,
    })
    for (const seconds of [88, 90]) {
      clock.move(seconds)
      await node.runDue()
    }
    assert.deepEqual(
      authority.placed,
      [...failing, first, second],
      'the one that failed comes last',
    )
  })

  test('are charged to the workspace in which the host is active when they are placed', async () => {
    const { clock, authority, node, workspace, spend } = await setUp()
    const old = await workspace('failing')
    const heir = await workspace()
    await node.runDue()
    const [host = ''] = old.hosts
    await spend(old.id, OF_WORKSPACE - 1)
    assert.equal((await at.store.read.certificateOrders.find(host))?.workspaceId, old.id)
    const claim = await at.store.read.domains.findActive(host)
    assert.ok(claim)
    await at.store.write(async (stores) => {
      await stores.domains.delete(old.id, claim.id)
    })
    await addDomain(at.store, heir.id, { host, status: 'active' })
    await node.orders.reconcile([host])
    const order = await at.store.read.certificateOrders.find(host)
    assert.deepEqual(
      [order?.workspaceId, order?.queue, order?.attempts, order?.nextAt],
      [heir.id, 'new', 0, clock.nowMicros()],
    )
    const before = authority.placed.length
    await node.runDue()
    assert.deepEqual(authority.placed.slice(before), [host])
    const rows = await at.db
      .selectFrom('acme_budgets')
      .select('subject')
      .where('subject', 'like', `%${heir.id}`)
      .execute()
    assert.deepEqual(
      rows.map(({ subject }) => subject),
      [`first orders of workspace ${heir.id}`],
    )
  })

  test('run up to four at a time per workspace, and leave slots for others', async () => {
    const waiting: (() => void)[] = []
    const setting = await setUp({
      beforeOrder: (host) =>
        host.startsWith('slow')
          ? new Promise<void>((resolve) => waiting.push(resolve))
          : Promise.resolve(),
    })
    const { authority, node, workspace } = setting
    await workspace(...many(20, 'slow'))
    await node.orders.startDue()
    const other = await workspace('go')
    await node.orders.startDue()
    await eventually(async () => {
      assert.deepEqual(node.log, [`issued ${other.hosts[0]}`])
      assert.equal(waiting.length, 4)
    })
    assert.equal(authority.placed.length, 1)
    node.orders.cancel()
    for (const end of waiting) end()
    await node.orders.settled()
  })
})
