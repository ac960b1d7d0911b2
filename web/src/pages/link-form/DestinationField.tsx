import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { destinationOf } from '../../api/destination.ts'
import { sameDestinationQuery } from '../../api/link-keys.ts'
import { Icon } from '../../icons/Icon.tsx'
import { InfoIcon, LinkIcon } from '../../icons/index.ts'
import { useSettled } from '../../state/use-settled.ts'
import { useText } from '../../text/use-text.ts'
import { Field, Input } from '../../widgets/Field.tsx'
import type { FormState } from './form-state.ts'

/** Says when other links lead to the same destination. */
export function DestinationField({ draft, link, errors, change }: FormState) {
  const t = useText()
  const url = useSettled(destinationOf(draft.url) ?? '')
  const { data: total = 0 } = useQuery({ ...sameDestinationQuery(url), enabled: url !== '' })
  // The link that is being edited is one of them.
  const others = link !== undefined && url === link.url ? total - 1 : total
  const hint = others > 0 && (
    <span className="flex gap-1.5 items-center">
      <Icon of={InfoIcon} small />
      <span>
        {t.linkForm.sameDestination(others)}{' '}
        <Link className="link" to="/links" search={{ url }} target="_blank">
          {t.linkForm.showThem}
        </Link>
      </span>
    </span>
  )
  return (
    <Field label={t.linkForm.destination} hint={hint || undefined} errors={errors['url']}>
      {(control) => (
        <Input
          {...control}
          icon={LinkIcon}
          inputMode="url"
          placeholder="https://"
          required
          autoFocus={link === undefined}
          value={draft.url}
          onChange={(event) => change({ url: event.target.value })}
        />
      )}
    </Field>
  )
}
