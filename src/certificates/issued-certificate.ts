import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { CertificateLife } from '../domains/index.ts'
import { AuthorityError } from './authority-error.ts'

/**
 * Checks that an issued certificate matches its host and key and is valid; returns its validity period.
 *
 * @param issued.now microseconds since the epoch
 * @throws {AuthorityError} `rejected` for a certificate that cannot be used
 */
export function checkIssued(issued: {
  host: string
  chainPem: string
  keyPem: string
  now: number
}): CertificateLife {
  const { host, chainPem, keyPem, now } = issued
  const leaf = parseLeaf(chainPem)
  if (!leaf.checkPrivateKey(createPrivateKey(keyPem))) throw unusable('for another key')
  if (leaf.checkHost(host, { subject: 'never' }) === undefined) throw unusable('for another host')
  const notBefore = leaf.validFromDate.getTime() * 1_000
  const notAfter = leaf.validToDate.getTime() * 1_000
  if (notAfter <= now) throw unusable('that has expired')
  return { notBefore, notAfter }
}

function parseLeaf(chainPem: string): X509Certificate {
  try {
    return new X509Certificate(chainPem)
  } catch {
    throw unusable('that cannot be read')
  }
}

function unusable(reason: string): AuthorityError {
  return new AuthorityError('rejected', `the authority issued a certificate ${reason}`)
}
