import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { ApiError } from '../api/api-error.ts'
import { type DnsReportResource, dnsQuery, verifyDomain } from '../api/domains.ts'
import type { Catalogue } from '../text/en.ts'
import { useText } from '../text/use-text.ts'
import { copyWithMessage } from '../widgets/copy.ts'
import { showError, showMessage } from '../widgets/toasts.ts'
import { SignInCancelled } from './sign-in-cancelled.ts'
import { errorText } from './use-faults.ts'

type DomainActs = {
  /** Checks a domain now, or says why not. */
  verify(id: string): Promise<void>
  /** Copies the DNS records of a domain, with a sentence for who sets them. */
  copyRecords(id: string): Promise<void>
}

export function useDomainActs(): DomainActs {
  const t = useText()
  const client = useQueryClient()
  return {
    verify: (id) => reporting(t, () => verify(client, id)),
    copyRecords: (id) =>
      reporting(t, async () => {
        const report = client.ensureQueryData(dnsQuery(id))
        await copyWithMessage(
          report.then((one) => recordsText(one, t)),
          t,
        )
      }),
  }
}

/** A domain has no DNS records to be set. */
class NoRecords extends Error {}

async function verify(client: QueryClient, id: string): Promise<void> {
  client.setQueryData(dnsQuery(id).queryKey, await verifyDomain(id))
}

async function reporting(t: Catalogue, act: () => Promise<void>): Promise<void> {
  try {
    await act()
  } catch (error) {
    if (error instanceof SignInCancelled || !(error instanceof Error)) return
    if (error instanceof NoRecords) return showMessage(t.domains.noRecords)
    const isLate = error instanceof ApiError && error.status === 429
    const seconds = isLate ? error.retryAfterSeconds : undefined
    showError(seconds === undefined ? errorText(error, t) : t.domains.checkedLately(seconds))
  }
}

/** @throws {NoRecords} */
function recordsText({ records, unicode_domain: host }: DnsReportResource, t: Catalogue): string {
  if (records.length === 0) throw new NoRecords()
  const lines = records.map(({ type, full_name, value }) => [type, full_name, value].join('  '))
  return [t.domains.instructions(host), '', ...lines].join('\n')
}
