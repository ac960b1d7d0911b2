import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { type CompressionTask, Compressor } from './compressor.ts'

const MEBIBYTE = 1024 * 1024

describe('Compressor', () => {
  test('compresses small and large bodies, text and bytes', async () => {
    const compressor = new Compressor(assert.ifError)
    try {
      for (const text of ['ä'.repeat(1_000), 'ä'.repeat(100_000)]) {
        for (const body of [text, Buffer.from(text)]) {
          const brotli = await compressor.compress({ body, form: 'br', effort: 'each' })
          assert.equal(brotliDecompressSync(brotli ?? '').toString(), text)
          const gzip = await compressor.compress({ body, form: 'gzip', effort: 'once' })
          assert.equal(gunzipSync(gzip ?? '').toString(), text)
        }
      }
    } finally {
      await compressor.close()
    }
  })

  test('refuses bodies while its thread has too much work', async () => {
    const running: PromiseWithResolvers<Uint8Array>[] = []
    const compressor = new Compressor(assert.ifError, {
      run: () => {
        const task = Promise.withResolvers<Uint8Array>()
        running.push(task)
        return task.promise
      },
      close: async () => {},
    })
    const task = (bytes: number): CompressionTask => ({
      body: Buffer.alloc(bytes),
      form: 'gzip',
      effort: 'each',
    })
    const first = compressor.compress(task(6 * MEBIBYTE))
    assert.equal(running.length, 1, 'an idle thread accepts a body of any size')
    assert.equal(await compressor.compress(task(MEBIBYTE)), undefined)
    running[0]?.resolve(new Uint8Array(1))
    assert.equal((await first)?.length, 1)
    const others = Array.from({ length: 10 }, () => compressor.compress(task(MEBIBYTE)))
    assert.equal(running.length, 1 + 4)
    for (const { resolve } of running) resolve(new Uint8Array(1))
    const taken = (await Promise.all(others)).filter((one) => one !== undefined)
    assert.equal(taken.length, 4)
  })

  test('returns no compressed body, and reports the error, when its thread fails', async () => {
    const errors: unknown[] = []
    const failure = new Error('out of memory')
    const compressor = new Compressor((error) => errors.push(error), {
      run: () => Promise.reject(failure),
      close: async () => {},
    })
    const task = { body: 'x'.repeat(MEBIBYTE), form: 'br', effort: 'each' } as const
    for (let nth = 0; nth < 10; nth += 1) assert.equal(await compressor.compress(task), undefined)
    assert.deepEqual(errors, Array(10).fill(failure), 'failed bodies no longer count as pending')
  })
})
