import { useQuery, useQueryClient } from '@tanstack/react-query'
import { keyAvailabilityQuery } from '../../api/link-keys.ts'
import { Icon } from '../../icons/Icon.tsx'
import { CheckIcon, DiceIcon } from '../../icons/index.ts'
import { DomainSelect } from '../../shell/DomainSelect.tsx'
import { useSettled } from '../../state/use-settled.ts'
import { faultText } from '../../text/fault-text.ts'
import { useText } from '../../text/use-text.ts'
import { Field, Input } from '../../widgets/Field.tsx'
import { IconButton } from '../../widgets/IconButton.tsx'
import type { FormState } from './form-state.ts'

/** Domain and key, with whether the key is free. */
export function AddressFields({ draft, link, errors, change }: FormState) {
  const t = useText()
  const client = useQueryClient()
  const key = useSettled(draft.key.trim())
  const isOwn = link !== undefined && key === link.key && draft.domain === link.domain
  const { data: found } = useQuery({
    ...keyAvailabilityQuery(draft.domain, key),
    enabled: key !== '' && !isOwn,
  })
  const isCurrent = found?.key === draft.key.trim()
  const name = `${draft.domain}/${found?.key}`
  const isTaken = isCurrent && found.available === false
  const refusal = found?.fault && faultText(found.fault, t.faults)
  const isFree = isCurrent && found.available === true && key !== ''

  async function suggest() {
    const { suggestion } = await client.fetchQuery({
      ...keyAvailabilityQuery(draft.domain, ''),
      staleTime: 0,
    })
    change({ key: suggestion })
  }

  return (
    <div className="two dk">
      <Field label={t.linkForm.domain} errors={errors['domain']}>
        {(control) => (
          <DomainSelect
            {...control}
            value={draft.domain}
            onChange={(domain) => change({ domain })}
          />
        )}
      </Field>
      <Field
        label={t.linkForm.key}
        aside={<span className="hint">{t.linkForm.keyHint}</span>}
        errors={errors['key'] ?? (isTaken ? [`${name} ${refusal}`] : undefined)}
        hint={
          isFree ? (
            <span className="good">
              <Icon of={CheckIcon} />
              {t.linkForm.keyFree(name)}
            </span>
          ) : undefined
        }
      >
        {(control) => (
          <Input
            {...control}
            autoCapitalize="none"
            autoComplete="off"
            spellCheck={false}
            before={<span className="muted">/</span>}
            after={
              <IconButton
                icon={DiceIcon}
                label={t.linkForm.randomKey}
                className="-mr-1.5"
                onClick={suggest}
              />
            }
            value={draft.key}
            onChange={(event) => change({ key: event.target.value })}
          />
        )}
      </Field>
      {/* The text below the key is not read when another field has changed it. */}
      <span className="sr" role="status">
        {isFree && t.linkForm.keyFree(name)}
        {isTaken && `${name} ${refusal}`}
      </span>
    </div>
  )
}
