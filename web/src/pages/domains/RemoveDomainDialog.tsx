import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { DOMAIN_LISTS_KEY, type DomainResource, removeDomain } from '../../api/domains.ts'
import { LINKS_KEY, linksQuery } from '../../api/links.ts'
import { TrashIcon } from '../../icons/index.ts'
import { useFaults } from '../../shell/use-faults.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { Dialog } from '../../widgets/Dialog.tsx'
import { Field, Input } from '../../widgets/Field.tsx'
import { FormNote } from '../../widgets/FormNote.tsx'
import { showMessage } from '../../widgets/toasts.ts'

type RemoveDomainDialogProps = {
  readonly domain: DomainResource
  readonly onClose: () => void
}

/** Removing a domain affects visitors at once, so its name must be typed. */
export function RemoveDomainDialog({ domain, onClose }: RemoveDomainDialogProps) {
  const t = useText()
  const client = useQueryClient()
  const [typed, setTyped] = useState('')
  const host = domain.domain
  const { data: links } = useQuery(linksQuery({ domain: [host], sort: '-clicks' }, 1, 1))
  const busiest = links?.data[0]
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => removeDomain(domain.id),
    async onSuccess() {
      onClose()
      showMessage(t.domains.removed(host), { icon: TrashIcon })
      await client.invalidateQueries({ queryKey: DOMAIN_LISTS_KEY })
      await client.invalidateQueries({ queryKey: LINKS_KEY })
    },
  })
  const isTyped = typed.trim().toLowerCase() === host
  const faults = useFaults(error)
  return (
    <Dialog
      isOpen
      onClose={onClose}
      onSubmit={() => {
        if (isTyped && !isPending) mutate()
      }}
      title={t.domains.removeTitle(host)}
      description={links && t.domains.removeText(links.meta.total)}
      footer={
        <>
          <Button onClick={onClose}>{t.common.cancel}</Button>
          <Button type="submit" look="danger" isBusy={isPending} disabled={!isTyped}>
            {t.domains.remove}
          </Button>
        </>
      }
    >
      {busiest !== undefined && (
        <ul className="quiet">
          <li>
            <span>{t.domains.busiest}</span>
            <span className="cut">
              /{busiest.key}, {t.common.clicks(busiest.clicks ?? 0)}
            </span>
          </li>
        </ul>
      )}
      <FormNote text={faults.general} />
      <Field label={t.domains.typeHost(host)}>
        {(control) => (
          <Input
            {...control}
            autoCapitalize="none"
            autoComplete="off"
            spellCheck={false}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        )}
      </Field>
    </Dialog>
  )
}
