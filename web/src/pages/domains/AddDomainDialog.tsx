import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { addDomain, DOMAINS_KEY } from '../../api/domains.ts'
import { usageQuery } from '../../api/workspaces.ts'
import { useFaults } from '../../shell/use-faults.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { Dialog } from '../../widgets/Dialog.tsx'
import { Field, Input } from '../../widgets/Field.tsx'
import { showMessage } from '../../widgets/toasts.ts'

export function AddDomainDialog({ onClose }: { onClose: () => void }) {
  const t = useText()
  const client = useQueryClient()
  const [host, setHost] = useState('')
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: () => addDomain(host.trim()),
    async onSuccess(domain) {
      await client.invalidateQueries({ queryKey: DOMAINS_KEY })
      void client.invalidateQueries({ queryKey: usageQuery.queryKey })
      showMessage(t.domains.added(domain.domain))
      onClose()
    },
  })
  const faults = useFaults(error, ['domain'])
  return (
    <Dialog
      isOpen
      isFirm
      onClose={onClose}
      onSubmit={() => {
        if (host.trim() !== '' && !isPending) mutate()
      }}
      title={t.domains.addTitle}
      footer={
        <>
          <Button onClick={onClose}>{t.common.cancel}</Button>
          <Button type="submit" look="ink" isBusy={isPending} disabled={host.trim() === ''}>
            {t.domains.add}
          </Button>
        </>
      }
    >
      <Field label={t.domains.host} hint={t.domains.hostHint} errors={faults.withGeneral('domain')}>
        {(control) => (
          <Input
            {...control}
            inputMode="url"
            autoCapitalize="none"
            autoComplete="off"
            spellCheck={false}
            placeholder="go.example.com"
            value={host}
            onChange={(event) => {
              setHost(event.target.value)
              reset()
            }}
          />
        )}
      </Field>
    </Dialog>
  )
}
