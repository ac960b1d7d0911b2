import { useQuery } from '@tanstack/react-query'
import { type ComponentProps, useId } from 'react'
import { domainsQuery } from '../api/domains.ts'
import { useText } from '../text/use-text.ts'
import { Input, Select } from '../widgets/Field.tsx'
import { useHosts } from './use-domains.ts'

/** With more hosts, the host is typed and completed instead of chosen from a list. */
const CHOICES_MAX = 100

type DomainSelectProps = Omit<ComponentProps<'select'>, 'value' | 'onChange'> & {
  readonly value: string
  readonly onChange: (domain: string) => void
  /** Stands there until a domain is chosen. */
  readonly placeholder?: string
}

/** The service's own host, then the domains of the workspace, with which of them are pending. */
export function DomainSelect({ value, onChange, placeholder, ...props }: DomainSelectProps) {
  const id = useId()
  const t = useText()
  const hosts = useHosts()
  const { data: domains = [] } = useQuery(domainsQuery)
  const nameOf = (host: string) => {
    const isPending = domains.some(({ domain, status }) => domain === host && status === 'pending')
    return isPending ? t.linkForm.pendingDomain(host) : host
  }
  if (hosts.length > CHOICES_MAX) {
    return (
      <>
        <Input
          id={props.id}
          aria-label={props['aria-label']}
          aria-describedby={props['aria-describedby']}
          aria-invalid={props['aria-invalid']}
          list={id}
          placeholder={placeholder}
          autoCapitalize="none"
          autoComplete="off"
          spellCheck={false}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
        <datalist id={id}>
          {hosts.map((host) => (
            <option key={host} value={host}>
              {nameOf(host)}
            </option>
          ))}
        </datalist>
      </>
    )
  }
  return (
    <Select {...props} value={value} onChange={(event) => onChange(event.target.value)}>
      {placeholder !== undefined && (
        <option value="" disabled>
          {placeholder}
        </option>
      )}
      {[...new Set([...hosts, ...(value === '' ? [] : [value])])].map((host) => (
        <option key={host} value={host}>
          {nameOf(host)}
        </option>
      ))}
    </Select>
  )
}
