import assert from 'node:assert/strict'
import { test } from 'node:test'
import { moneyFormatsOf } from './money-formats.ts'

test('amounts have the decimals of their currency', () => {
  const { amount, short, name } = moneyFormatsOf('en')
  assert.equal(amount(8_641_250, 'EUR'), '86,412.50')
  assert.equal(amount(-500, 'JPY'), '-500')
  assert.equal(amount(1_234, 'KWD'), '1.234')
  assert.equal(amount(100, 'XQQ'), '1.00')
  assert.match(short(200_000, 'EUR'), /^2k$/i)
  assert.deepEqual([name('CHF'), name('XQQ')], ['Swiss Franc', 'XQQ'])
  assert.equal(moneyFormatsOf('de').amount(8_641_250, 'EUR'), '86.412,50')
})
