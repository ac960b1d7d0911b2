import { useQuery } from '@tanstack/react-query'
import type { ComponentProps } from 'react'
import { domainsQuery } from '../api/domains.ts'
import { Select } from '../widgets/Field.tsx'

type DomainSelectProps = Omit<ComponentProps<'select'>, 'value' | 'onChange'> & {
  readonly value: string
  readonly onChange: (domain: string) => void
}

/** The service's own host, then the domains of the workspace. */
export function DomainSelect({ value, onChange, ...props }: DomainSelectProps) {
  const { data: domains = [] } = useQuery(domainsQuery)
  const hosts = [...new Set([location.hostname, ...domains.map(({ domain }) => domain), value])]
  return (
    <Select {...props} value={value} onChange={(event) => onChange(event.target.value)}>
      {hosts.map((host) => (
        <option key={host} value={host}>
          {host}
        </option>
      ))}
    </Select>
  )
}
