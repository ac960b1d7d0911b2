import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { addDomain, DOMAINS_KEY, type DomainResource, hostOf } from '../../api/domains.ts'
import { usageQuery } from '../../api/workspaces.ts'
import { useFaults } from '../../shell/use-faults.ts'
import { useText } from '../../text/use-text.ts'
import { FormDialog } from '../../widgets/Dialog.tsx'
import { Field, Input } from '../../widgets/Field.tsx'
import { showMessage } from '../../widgets/Toasts.tsx'

type AddDomainDialogProps = {
  readonly onAdded?: (domain: DomainResource) => void
  readonly onClose: () => void
}

export function AddDomainDialog({ onAdded, onClose }: AddDomainDialogProps) {
  const t = useText()
  const client = useQueryClient()
  const [typed, setTyped] = useState('')
  const host = hostOf(typed)
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: () => addDomain(host),
    async onSuccess(domain) {
      await client.invalidateQueries({ queryKey: DOMAINS_KEY })
      void client.invalidateQueries({ queryKey: usageQuery.queryKey })
      showMessage(t.domains.added(domain.domain))
      onAdded?.(domain)
      onClose()
    },
  })
  const faults = useFaults(error, ['domain'])
  return (
    <FormDialog
      onClose={onClose}
      onSubmit={() => mutate()}
      title={t.domains.addTitle}
      verb={t.domains.add}
      isBusy={isPending}
      isIncomplete={host === ''}
    >
      <Field
        label={t.domains.host}
        hint={host === typed.trim() ? t.domains.hostHint : t.domains.hostOfUrl(host)}
        errors={faults.withGeneral('domain')}
      >
        {(control) => (
          <Input
            {...control}
            inputMode="url"
            autoCapitalize="none"
            autoComplete="off"
            spellCheck={false}
            placeholder="go.example.com"
            value={typed}
            onChange={(event) => {
              setTyped(event.target.value)
              reset()
            }}
          />
        )}
      </Field>
    </FormDialog>
  )
}
