import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Command } from 'commander'
import { readConfig } from '../config/config.ts'
import { addBackupOptions, type BackupOptions, backupSettings, requirePlace } from './serve.ts'

const HOUR_MS = 3_600_000

function parse(...args: readonly string[]): BackupOptions {
  const command = addBackupOptions(new Command())
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
  return command.parse(args, { from: 'user' }).opts()
}

describe('the options of terse serve about backups', () => {
  test('override the settings', () => {
    const set = {
      TERSE_BACKUP_TO: '/elsewhere',
      TERSE_BACKUP_EVERY: '1d',
      TERSE_BACKUP_KEEP: 'all',
    }
    const options = parse('--backup-to', '/mnt/backup', '--every', '2h', '--keep', '3d')
    const { backup } = readConfig({ ...set, ...backupSettings(options) })
    assert.equal(backup.target, '/mnt/backup')
    assert.equal(backup.everyMs, 2 * HOUR_MS)
    assert.deepEqual(backup.retention, readConfig({ TERSE_BACKUP_KEEP: '3d' }).backup.retention)
  })

  test('leave settings as they are when not given', () => {
    assert.deepEqual(backupSettings(parse()), {})
  })

  test('are refused when they are not a time or a list', () => {
    assert.throws(() => parse('--every', 'soon'), /must be a time such as 30m, 6h or 1d/)
    assert.throws(() => parse('--keep', 'some'), /must be a list such as 24h,14d,8w,12m, or all/)
  })

  test('are refused when no place is named, as they would have no effect', () => {
    for (const args of [
      ['--every', '6h'],
      ['--keep', '14d'],
    ]) {
      const options = parse(...args)
      const config = readConfig(backupSettings(options))
      assert.throws(() => requirePlace(options, config), /--backup-to/)
      requirePlace(options, readConfig({ TERSE_BACKUP_TO: '/mnt/backup' }))
    }
    requirePlace(parse(), readConfig({}))
  })
})
