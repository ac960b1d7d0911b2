import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { ApiError } from '../api/api-error.ts'
import { type DnsReportResource, dnsQuery, verifyDomain } from '../api/domains.ts'
import { CopyIcon } from '../icons/index.ts'
import type { Catalogue } from '../text/en.ts'
import { useText } from '../text/use-text.ts'
import { copyText } from '../widgets/CopyButton.tsx'
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
        const report = await client.ensureQueryData(dnsQuery(id))
        if (report.records.length === 0) showMessage(t.domains.noRecords)
        else if (await copyText(recordsText(report, t))) showMessage(t.common.copied, CopyIcon)
        else showError(t.common.notCopied)
      }),
  }
}

async function verify(client: QueryClient, id: string): Promise<void> {
  client.setQueryData(dnsQuery(id).queryKey, await verifyDomain(id))
}

async function reporting(t: Catalogue, act: () => Promise<void>): Promise<void> {
  try {
    await act()
  } catch (error) {
    if (error instanceof SignInCancelled || !(error instanceof Error)) return
    const isLate = error instanceof ApiError && error.status === 429
    const seconds = isLate ? error.retryAfterSeconds : undefined
    showError(seconds === undefined ? errorText(error, t) : t.domains.checkedLately(seconds))
  }
}

function recordsText({ records, unicode_domain: host }: DnsReportResource, t: Catalogue): string {
  const lines = records.map(({ type, full_name, value }) => [type, full_name, value].join('  '))
  return [t.domains.instructions(host), '', ...lines].join('\n')
}
