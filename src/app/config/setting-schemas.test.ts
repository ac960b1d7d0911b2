import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { z } from 'zod'
import { createFolder } from '../../../test/support/engines.ts'
import { networksOrFile } from './setting-schemas.ts'

describe('networksOrFile', () => {
  const schema = z.string().transform(networksOrFile)

  test('reads networks from the text, or from the file that it names', (t) => {
    const folder = createFolder()
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const file = path.join(folder, 'networks.txt')
    writeFileSync(file, '# Published in 2026\n192.0.2.0/24  # scanners\n\n2001:db8::/32\n')
    for (const text of ['192.0.2.0/24, 2001:db8::/32', file]) {
      const networks = schema.parse(text)
      assert.ok(networks.has('192.0.2.7') && networks.has('2001:db8::1'), text)
      assert.ok(!networks.has('192.0.3.1'), text)
    }
    writeFileSync(file, '192.0.2.0/24\nexample.com\n')
    const { error } = schema.safeParse(file)
    assert.match(String(error), /example\.com\\" is not an address/)
  })
})
