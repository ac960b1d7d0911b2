import { type ComponentProps, useId } from 'react'
import { Input, Select } from '../widgets/Field.tsx'
import { useHosts } from './use-hosts.ts'

/** With more hosts, the host is typed and completed instead of chosen from a list. */
const CHOICES_MAX = 100

type DomainSelectProps = Omit<ComponentProps<'select'>, 'value' | 'onChange'> & {
  readonly value: string
  readonly onChange: (domain: string) => void
}

/** The service's own host, then the domains of the workspace. */
export function DomainSelect({ value, onChange, ...props }: DomainSelectProps) {
  const id = useId()
  const hosts = useHosts()
  if (hosts.length > CHOICES_MAX) {
    return (
      <>
        <Input
          id={props.id}
          aria-label={props['aria-label']}
          aria-describedby={props['aria-describedby']}
          aria-invalid={props['aria-invalid']}
          list={id}
          autoCapitalize="none"
          autoComplete="off"
          spellCheck={false}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
        <datalist id={id}>
          {hosts.map((host) => (
            <option key={host} value={host} />
          ))}
        </datalist>
      </>
    )
  }
  return (
    <Select {...props} value={value} onChange={(event) => onChange(event.target.value)}>
      {[...new Set([...hosts, value])].map((host) => (
        <option key={host} value={host}>
          {host}
        </option>
      ))}
    </Select>
  )
}
