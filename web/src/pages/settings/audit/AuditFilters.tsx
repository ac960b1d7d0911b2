import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { AUDIT_KINDS, type AuditFilter, type AuditKind } from '../../../api/events.ts'
import { membersQuery } from '../../../api/members.ts'
import { tokensQuery } from '../../../api/tokens.ts'
import { useText } from '../../../text/use-text.ts'
import { Field, Input, Select } from '../../../widgets/Field.tsx'

/** The filters are in the address. */
export function AuditFilters({ filter }: { filter: AuditFilter }) {
  const t = useText()
  const navigate = useNavigate()
  const { data: members = [] } = useQuery(membersQuery)
  const { data: tokens = [] } = useQuery(tokensQuery)
  const set = (change: AuditFilter) =>
    navigate({ to: '/settings/audit', search: { ...filter, ...change }, replace: true })
  const given = (text: string) => (text === '' ? undefined : text)
  return (
    <div className="filters">
      <Field label={t.audit.kind}>
        {(control) => (
          <Select
            {...control}
            value={filter.kind ?? ''}
            onChange={({ target }) => set({ kind: given(target.value) as AuditKind | undefined })}
          >
            <option value="">{t.audit.kinds.all}</option>
            {AUDIT_KINDS.map((kind) => (
              <option key={kind} value={kind}>
                {t.audit.kinds[kind]}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label={t.audit.who}>
        {(control) => (
          <Select
            {...control}
            value={filter.actor ?? ''}
            onChange={({ target }) => set({ actor: given(target.value) })}
          >
            <option value="">{t.audit.anyone}</option>
            {members.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
            {tokens.map(({ id, name }) => (
              <option key={id} value={id}>
                {t.audit.token} {name}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label={t.audit.from}>
        {(control) => (
          <Input
            {...control}
            type="date"
            value={filter.from ?? ''}
            max={filter.to}
            onChange={({ target }) => set({ from: given(target.value) })}
          />
        )}
      </Field>
      <Field label={t.audit.to}>
        {(control) => (
          <Input
            {...control}
            type="date"
            value={filter.to ?? ''}
            min={filter.from}
            onChange={({ target }) => set({ to: given(target.value) })}
          />
        )}
      </Field>
    </div>
  )
}
