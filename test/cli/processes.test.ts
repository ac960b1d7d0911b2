import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { apiClient, expectStatus } from '../support/api.ts'
import { createFolder, type Place, SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { numberOf } from '../support/prometheus.ts'
import { RawConnection } from '../support/raw-http.ts'
import { runCli } from '../support/run-cli.ts'
import { runCommand } from '../support/run-command.ts'
import { type ServiceProcess, startProcess } from '../support/service-process.ts'
import { visit } from '../support/visit.ts'
import { assertAlive, startedWorkers, workerPids } from '../support/worker-pids.ts'

const TOKEN = /terse_[0-9A-Za-z]{36}/g
/** The interval at which processes exchange their request counts. */
const TELL_MS = 100
const ANSWER_MS_MAX = 10_000
const RESTARTED_WITHIN_MS = 90_000
/** Time for an answer from a process that is not suspended. */
const ACCEPT_MS_MAX = 1_000
/** Enough for one of them to reach a given process of two, nearly always. */
const CONNECTIONS_AT_ONCE = 6

async function start(t: TestContext, settings: Record<string, string> = {}) {
  const place = await SQLITE.createPlace()
  const service = await startProcess(place, { TERSE_PROCESSES: '2', ...settings })
  t.after(async () => {
    if (service.child.exitCode === null && service.child.signalCode === null) await service.kill()
    await place.remove()
  })
  return { place, service }
}

/**
 * Opens a connection that a given process of the service has accepted. The others are suspended
 * meanwhile: connections that the kernel gives to them get no answer.
 */
async function connectionTo(service: ServiceProcess, pid: number): Promise<RawConnection> {
  const others = workerPids(service).filter((other) => other !== pid)
  for (const other of others) process.kill(other, 'SIGSTOP')
  try {
    for (;;) {
      const opened = await Promise.all(
        Array.from({ length: CONNECTIONS_AT_ONCE }, () => RawConnection.open(service.port)),
      )
      const accepted = await Promise.any(opened.map(expectAccepted)).catch(() => undefined)
      for (const connection of opened) if (connection !== accepted) connection.destroy()
      if (accepted !== undefined) return accepted
    }
  } finally {
    for (const other of others) process.kill(other, 'SIGCONT')
  }
}

async function expectAccepted(connection: RawConnection): Promise<RawConnection> {
  connection.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n')
  assert.ok(await connection.nextAnswer(ACCEPT_MS_MAX))
  return connection
}

describe('terse serve --processes', () => {
  test('prints one greeting when all processes run, and stops them all', async (t) => {
    const { service } = await start(t)
    const { stdout } = service.output()
    assert.equal(stdout.match(/Terse is running at/g)?.length, 1)
    const tokens = stdout.match(TOKEN) ?? []
    assert.equal(new Set(tokens).size, 1, stdout)
    await eventually(async () => {
      const numbers = startedWorkers(service).map((started) => started.process)
      assert.deepEqual(numbers, [1, 2])
    })
    const pids = workerPids(service)
    assertAlive(pids, true)
    const api = apiClient(`http://127.0.0.1:${service.port}`, String(tokens[0]))
    const link = { domain: 'localhost', key: 'many', url: 'https://example.com/' }
    expectStatus(await api.post('/links', link), 201)
    assert.equal((await visit(service.port, '/many')).status, 302)

    assert.equal(await service.stop(), 0)
    assertAlive(pids, false)
    assert.equal(service.output().stderr.match(/"stopping"/g)?.length, 3)
    assert.doesNotMatch(service.output().stderr, /"level":(40|50|60)/)
  })

  test('overrides TERSE_PROCESSES, and runs a single process without a supervisor', async () => {
    const place = await SQLITE.createPlace()
    const port = await freePort()
    const env = { ...place.env, TERSE_PORT: String(port), TERSE_PROCESSES: '2' }
    for (const count of ['0', 'many', '1.5']) {
      const { code, stderr, stdout } = await runCommand(['serve', '--processes', count], env)
      assert.equal(code, 5)
      assert.match(stderr, /^terse: .*--processes.*whole number from 1 to 256, or auto\.\n$/)
      assert.equal(stdout, '')
    }
    const service = await startProcess(
      place,
      { TERSE_PROCESSES: '2' },
      { args: ['--processes', '1'] },
    )
    assert.deepEqual(startedWorkers(service), [])
    assert.equal(await service.stop(), 0)
    await place.remove()
  })

  test('prints one line when no process can start, and exits with 1', async (t) => {
    const place = await SQLITE.createPlace()
    t.after(() => place.remove())
    const key = path.join(place.dataDir, 'secret.key')
    writeFileSync(key, 'no key\n')
    chmodSync(key, 0o600)
    const env = { ...place.env, TERSE_PORT: String(await freePort()) }
    const { code, stdout, stderr } = await runCli(['serve', '--processes', '3'], env)
    assert.equal(code, 1)
    assert.match(stderr, /^terse: .*secret\.key is damaged.*\n$/)
    assert.equal(stdout, '')
  })

  test('ends every process when the supervisor is killed', async (t) => {
    const { place, service } = await start(t)
    await eventually(async () => assert.equal(startedWorkers(service).length, 2))
    const pids = workerPids(service)
    await service.kill()
    await eventually(async () => assertAlive(pids, false))
    const next = await startProcess(place, {
      TERSE_PROCESSES: '2',
      TERSE_PORT: String(service.port),
    })
    assert.equal(await next.stop(), 0)
  })

  test('stops on SIGTERM while it is replacing its processes', async (t) => {
    const { service } = await start(t)
    const before = workerPids(service)
    service.child.kill('SIGHUP')
    await eventually(async () => assert.match(service.output().stderr, /"rolling restart started/))
    const exited = once(service.child, 'exit')
    service.child.kill('SIGTERM')
    assert.deepEqual(await exited, [0, null])
    assertAlive([...before, ...workerPids(service)], false)
  })

  test("enforces a token's rate limit across all processes", async (t) => {
    const limit = 20
    const { service } = await start(t, { TERSE_RATE_LIMIT: String(limit) })
    const token = service.output().stdout.match(TOKEN)?.[0]
    await eventually(async () => assert.equal(startedWorkers(service).length, 2))
    const [firstPid = 0, secondPid = 0] = workerPids(service)
    const first = await connectionTo(service, firstPid)
    const second = await connectionTo(service, secondPid)
    const ask = async (connection: RawConnection) => {
      const head = `GET /api/v1/links HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`
      connection.write(head)
      return (await connection.nextAnswer(ANSWER_MS_MAX))?.status
    }
    for (let count = 0; count < limit; count += 1) assert.equal(await ask(first), 200)
    assert.equal(await ask(first), 429)
    // What the second process allows before it learns of these requests is far less than its own
    // limit.
    let allowed = 0
    while ((await ask(second)) === 200) {
      allowed += 1
      await sleep(TELL_MS)
    }
    assert.ok(allowed < limit / 2, `${allowed} allowed beyond the limit`)
    first.destroy()
    second.destroy()
  })

  describe('with two processes', () => {
    let place: Place
    let service: ServiceProcess
    let backups: string
    before(async () => {
      place = await SQLITE.createPlace()
      backups = createFolder()
      service = await startProcess(
        place,
        { TERSE_PROCESSES: '2' },
        { args: ['--backup-to', backups, '--every', '1d'] },
      )
      await eventually(async () => assert.equal(startedWorkers(service).length, 2))
    })
    after(async () => {
      if (service.child.exitCode === null && service.child.signalCode === null) await service.kill()
      rmSync(backups, { recursive: true })
      await place.remove()
    })

    test('passes the options about backups on to the process that makes them', async () => {
      const [pid = 0] = workerPids(service)
      const connection = await connectionTo(service, pid)
      connection.write('GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n')
      const { body = '' } = (await connection.nextAnswer(ANSWER_MS_MAX)) ?? {}
      connection.destroy()
      // Undefined where no backups are configured.
      assert.match(body, /^terse_backup_last_timestamp_seconds/m)
    })

    test('returns the metrics of every process from any of them, also after one was replaced', async () => {
      const metricsOver = async (connection: RawConnection): Promise<string> => {
        connection.write('GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n')
        return (await connection.nextAnswer(ANSWER_MS_MAX))?.body ?? ''
      }
      const [firstPid = 0, secondPid = 0] = workerPids(service)
      for (const pid of [firstPid, secondPid]) {
        const connection = await connectionTo(service, pid)
        connection.write('GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n')
        assert.equal((await connection.nextAnswer(ANSWER_MS_MAX))?.status, 404)
        // On a busy machine a process may answer too late for the others to wait for it.
        await eventually(async () => {
          const body = await metricsOver(connection)
          const visits = (process: string) =>
            numberOf(body, 'terse_visits_total', { process, outcome: 'not_found' })
          assert.equal(visits('1'), 1)
          assert.equal(visits('2'), pid === firstPid ? 0 : 1)
          assert.equal(body.match(/^# TYPE terse_visits_total counter$/gm)?.length, 1)
        })
        connection.destroy()
      }

      service.child.kill('SIGHUP')
      const { output } = service
      await eventually(
        async () => assert.match(output().stderr, /"restarted"/),
        RESTARTED_WITHIN_MS,
      )
      const ready = (body: string, process: string) =>
        numberOf(body, 'terse_ready', { process, role: 'redirect' })
      await eventually(async () => {
        assert.equal(ready((await visit(service.port, '/metrics')).body, '2'), 1)
      })
      const held = workerPids(service)[1] ?? 0
      const asking = await connectionTo(service, workerPids(service)[0] ?? 0)
      process.kill(held, 'SIGSTOP')
      try {
        await eventually(async () => {
          const body = await metricsOver(asking)
          const message = 'a suspended process does not block the answer'
          assert.deepEqual([ready(body, '1'), ready(body, '2')], [1, undefined], message)
        })
      } finally {
        process.kill(held, 'SIGCONT')
      }
      asking.destroy()
    })

    test('names a port in use in one line, also when that port is shared by processes', async (t) => {
      const other = await SQLITE.createPlace()
      t.after(() => other.remove())
      for (const count of ['1', '2']) {
        const settings = { TERSE_HOST: '127.0.0.1', TERSE_PORT: String(service.port) }
        const env = { ...other.env, ...settings }
        const { code, stdout, stderr } = await runCli(['serve', '--processes', count], env)
        assert.equal(code, 1)
        assert.match(stderr, new RegExp(`^terse: .*${service.port}.*TERSE_PORT.*\n$`))
        assert.equal(stdout, '')
        assert.deepEqual(readdirSync(other.dataDir), [])
      }
    })

    test('restarts a process that ended, while the other one answers', async () => {
      const [first = 0, second = 0] = workerPids(service)
      for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
        const started = startedWorkers(service).length
        process.kill(signal === 'SIGKILL' ? first : second, signal)
        await eventually(async () => {
          assert.equal(startedWorkers(service).length, started + 1)
        }, RESTARTED_WITHIN_MS)
        assertAlive(workerPids(service), true)
        for (const pid of workerPids(service)) (await connectionTo(service, pid)).destroy()
      }
      assert.equal(service.output().stderr.match(/"process exited unexpectedly/g)?.length, 2)
      assert.equal(await service.stop(), 0)
    })
  })
})
