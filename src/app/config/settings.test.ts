import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { describe, test } from 'node:test'
import { SETTINGS } from './settings.ts'

const FOLDER = new URL('./settings/', import.meta.url)

describe('SETTINGS', () => {
  test('contains every group of the settings folder, and each setting once', async () => {
    const names: string[] = []
    for (const file of readdirSync(FOLDER)) {
      const groups: Record<string, object> = await import(new URL(file, FOLDER).href)
      names.push(...Object.values(groups).flatMap((group) => Object.keys(group)))
    }
    assert.deepEqual(names.sort(), Object.keys(SETTINGS).sort())
  })
})
