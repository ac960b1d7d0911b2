import { spawn } from 'node:child_process'
import { existsSync, renameSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { fakeClock } from '../../test/support/fake-clock.ts'
import { PASSWORD, setUp } from '../../test/support/person-client.ts'
import { startService } from '../../test/support/service.ts'
import { DEMO_DAYS, DEMO_TARGET, fillDemo } from './fill-demo.ts'

// Serves a workspace with believable links and 90 days of clicks. Its folder is made at the first run.

const FOLDER = fileURLToPath(new URL('../../data-demo', import.meta.url))
const PROGRAM = fileURLToPath(new URL('../../bin/terse.js', import.meta.url))
const EMAIL = 'ada@example.com'

/** A run that was stopped halfway leaves a folder of another name. */
async function fill(): Promise<void> {
  const partial = `${FOLDER}.partial`
  rmSync(partial, { recursive: true, force: true })
  const place = {
    dataDir: partial,
    databaseUrl: undefined,
    env: { TERSE_DATA_DIR: partial },
    remove: async () => {},
  }
  const clock = fakeClock(Date.now() - DEMO_DAYS * 86_400_000)
  const engine = { createMigratedPlace: async () => place }
  const service = await startService(engine, {}, { clock })
  try {
    await fillDemo(service, clock)
    await setUp(service, EMAIL)
  } finally {
    await service.stop()
  }
  renameSync(partial, FOLDER)
}

if (!existsSync(FOLDER)) {
  process.stdout.write('Making 90 days of clicks …\n')
  await fill()
}
process.stdout.write(
  `Sign in as ${EMAIL} with the password “${PASSWORD}”. Remove the folder data-demo to begin again.\n`,
)
const env = { ...DEMO_TARGET, ...process.env, TERSE_DATA_DIR: FOLDER }
const child = spawn(process.execPath, [PROGRAM, 'serve'], { stdio: 'inherit', env })
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
child.on('exit', (code) => {
  process.exitCode = code ?? 1
})
