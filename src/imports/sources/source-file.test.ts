import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { ImportSourceFault } from '../import-source.ts'
import { checkSourceFile, readSourceFile } from './source-file.ts'

const TEXT = 'key,url\ngrüße,https://example.com/日本\n'.repeat(40)

function write(t: TestContext, bytes: Buffer): string {
  const file = path.join(temporaryFolder(t), 'file')
  writeFileSync(file, bytes)
  return file
}

async function read(file: string): Promise<string> {
  const { signal } = new AbortController()
  await checkSourceFile(file)
  return Buffer.concat(await Array.fromAsync(readSourceFile(file, signal))).toString()
}

const faultOf = (message: RegExp) => (error: unknown) =>
  error instanceof ImportSourceFault && message.test(error.message)

describe('a file of text', () => {
  const ENCODED: { name: string; bytes: Buffer }[] = [
    { name: 'UTF-8', bytes: Buffer.from(TEXT) },
    { name: 'UTF-8 with a mark', bytes: Buffer.from(`\ufeff${TEXT}`) },
    { name: 'UTF-16 with a mark', bytes: Buffer.from(`\ufeff${TEXT}`, 'utf16le') },
    { name: 'UTF-16 without a mark', bytes: Buffer.from(TEXT, 'utf16le') },
    { name: 'UTF-16 in the other order', bytes: Buffer.from(`\ufeff${TEXT}`, 'utf16le').swap16() },
  ]
  for (const { name, bytes } of ENCODED)
    test(`is read in ${name}`, async (t) => assert.equal(await read(write(t, bytes)), TEXT))

  test('keeps bytes of any other encoding', async (t) => {
    const { signal } = new AbortController()
    const bytes = Buffer.from('grüße', 'latin1')
    const chunks = await Array.fromAsync(readSourceFile(write(t, bytes), signal))
    assert.deepEqual(Buffer.concat(chunks), bytes)
  })

  test('throws the reason of the signal', async (t) => {
    const file = write(t, Buffer.from(TEXT))
    const signal = AbortSignal.abort(new Error('cancelled'))
    await assert.rejects(Array.fromAsync(readSourceFile(file, signal)), /cancelled/)
  })
})

describe('a file that cannot be read', () => {
  test('is missing', (t) =>
    assert.rejects(read(path.join(temporaryFolder(t), 'none')), faultOf(/no such file/)))

  test('is a folder', async (t) => {
    const folder = path.join(temporaryFolder(t), 'folder')
    mkdirSync(folder)
    await assert.rejects(read(folder), faultOf(/folder/))
  })

  test('is empty', (t) => assert.rejects(read(write(t, Buffer.alloc(0))), faultOf(/empty/)))

  test('is compressed', (t) =>
    assert.rejects(read(write(t, gzipSync(TEXT))), faultOf(/compressed \(gzip\)/)))

  test('ends within a character of UTF-16', (t) =>
    assert.rejects(
      read(write(t, Buffer.from(TEXT, 'utf16le').subarray(0, -1))),
      faultOf(/damaged UTF-16/),
    ))
})
