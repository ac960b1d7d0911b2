import { useQuery } from '@tanstack/react-query'
import { type UsageResource, usageQuery } from '../../api/workspaces.ts'
import { LoadFailure } from '../../shell/LoadFailure.tsx'
import { useFormats, useText } from '../../text/use-text.ts'
import { RowsSkeleton } from './RowsSkeleton.tsx'
import { Section } from './Section.tsx'

const QUOTAS = [
  'links',
  'domains',
  'pending_domains',
  'storage_bytes',
  'requests_per_minute',
] as const satisfies readonly (keyof UsageResource)[]

/** What the workspace uses, of what it may use. */
export function Usage() {
  const t = useText()
  const { data: usage, error } = useQuery(usageQuery)
  return (
    <Section title={t.workspace.usage} hint={t.workspace.usageHint}>
      {usage === undefined && error === null && <RowsSkeleton rows={QUOTAS.length} />}
      {usage === undefined && error !== null && <LoadFailure error={error} />}
      {usage && (
        <ul className="rows nw">
          {QUOTAS.map((quota) => (
            <Quota key={quota} quota={quota} {...usage[quota]} />
          ))}
        </ul>
      )}
    </Section>
  )
}

type QuotaProps = {
  readonly quota: (typeof QUOTAS)[number]
  readonly used: number
  readonly limit: number | null
}

function Quota({ quota, used, limit }: QuotaProps) {
  const t = useText()
  const formats = useFormats()
  const format = quota === 'storage_bytes' ? formats.bytes : formats.number
  const share = limit === null || limit === 0 ? 0 : Math.min(1, used / limit)
  return (
    <li>
      <span className="who">
        <b>{t.workspace.quotas[quota]}</b>
        {limit !== null && (
          <span className="share" aria-hidden>
            <i style={{ width: `${share * 100}%` }} className={share >= 0.9 ? 'high' : ''} />
          </span>
        )}
      </span>
      <span className="ml-auto pr-2 text-text-2">
        {limit === null ? format(used) : t.workspace.of(format(used), format(limit))}
      </span>
    </li>
  )
}
