import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { scannableAddress, shortLink } from './link.ts'

/** The capacity of a QR code of error correction level M, in bytes. */
const QR_BYTES_MAX = 2_331

describe('shortLink and scannableAddress', () => {
  test('join https, the domain and the key unchanged', () => {
    const link = { domain: 'go.example.com', key: 'Straße/ü' }
    assert.equal(shortLink(link), 'https://go.example.com/Straße/ü')
  })

  test('percent-encode the key for scanners, and keep its slashes', () => {
    const link = { domain: 'go.example.com', key: 'Straße/ü~1' }
    assert.equal(
      scannableAddress(shortLink(link), false),
      'https://go.example.com/Stra%C3%9Fe/%C3%BC~1',
    )
  })

  test('leave the key unencoded for scanners when the encoded form exceeds the capacity of a QR code', () => {
    const host = `${'a'.repeat(63)}.example.com`
    const longest = { domain: host, key: '𝒜'.repeat(190) }
    assert.equal(scannableAddress(shortLink(longest), false), shortLink(longest))
    const shorter = { domain: host, key: '日'.repeat(190) }
    assert.equal(scannableAddress(shortLink(shorter), false), encodeURI(shortLink(shorter)))
  })

  test('fit into a QR code even at the greatest length', () => {
    const label = 'a'.repeat(63)
    const domain = `${label}.${label}.${label}.${'b'.repeat(61)}`
    for (const letter of ['k', 'é', '日', '𝒜']) {
      const scanned = scannableAddress(shortLink({ domain, key: letter.repeat(190) }), true)
      assert.ok(Buffer.byteLength(scanned) <= QR_BYTES_MAX, letter)
    }
  })
})
